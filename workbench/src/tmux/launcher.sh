# Started by tmux as the first process of a session, with the session's name and the launch's mark. A child of it reads
# where to go, the environment and the command line from a file that only we can read, removes it, and becomes the
# command. Nothing it reads is evaluated: each entry is a kind, a name, a number of lines, and that many lines.
#
# The launcher stays, says in a file how the command ended, and then keeps the terminal open: tmux may miss a death, and
# what was said just before it.
_muster_folder=$MUSTER_TMUX
_muster_session=$1
_muster_mark=$2
unset MUSTER_TMUX TMUX TMUX_PANE
set --
# Whoever interrupts the command from the keyboard does not mean us.
trap : INT QUIT
# A shell says which signal ended a child; that is not the command's word.
exec 4>&2 2>/dev/null
(
    exec 2>&4 4>&-
    exec 3<"$_muster_folder/$_muster_session.launch" || exit 127
    rm -f "$_muster_folder/$_muster_session.launch"
    _muster_place=
    while IFS= read -r _muster_kind <&3 && IFS= read -r _muster_name <&3 && IFS= read -r _muster_lines <&3; do
        IFS= read -r _muster_value <&3
        while [ "$_muster_lines" -gt 1 ]; do
            IFS= read -r _muster_more <&3
            _muster_value="$_muster_value
$_muster_more"
            _muster_lines=$((_muster_lines - 1))
        done
        case $_muster_kind in
            cd) _muster_place=$_muster_value ;;
            env) export "$_muster_name=$_muster_value" ;;
            arg) set -- "$@" "$_muster_value" ;;
        esac
    done
    exec 3<&-
    cd "$_muster_place" || exit 127
    unset _muster_folder _muster_session _muster_mark _muster_kind _muster_name _muster_lines _muster_value _muster_more _muster_place
    exec "$@"
)
echo "$_muster_mark $?" >"$_muster_folder/$_muster_session.ended"
exec sleep 2147483647
