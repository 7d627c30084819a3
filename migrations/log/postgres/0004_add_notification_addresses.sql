-- Where people are told what concerns them; the log knows only that it was changed.
create table notification_addresses (
    user_id text collate "C" primary key,
    sound_file text,
    webhook_url text,
    changed_at bigint not null
);

-- What people had said before was in the events, the last of which counts.
insert into notification_addresses (user_id, sound_file, webhook_url, changed_at)
select distinct on (e.aggregate_id) e.aggregate_id,
    e.payload #>> '{NotificationSettingsChanged,preferences,sound_file}',
    e.payload #>> '{NotificationSettingsChanged,preferences,webhook_url}',
    e.recorded_at
from events e
join accounts a on a.user_id = e.aggregate_id
where e.aggregate_type = 'notification_settings' and e.event_type = 'NotificationSettingsChanged'
order by e.aggregate_id, e.sequence desc;
