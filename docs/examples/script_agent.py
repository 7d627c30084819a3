"""An agent without a language model, for a first epic: see docs/factory.md.

The epic's design has one task a line, `- file: text`. The supervisor makes the tasks and approves what comes; a worker
writes its file, asks for a review, and rebases when it is told to. Needs nothing but Python.
"""

import json
import os
import time
import urllib.error
import urllib.request


def call(tool, **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mcp__" + tool, "arguments": arguments}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "X-Agent-ID": os.environ["MUSTER_AGENT_ID"],
        "X-Agent-Key": os.environ["MUSTER_AGENT_KEY"],
    }
    request = urllib.request.Request(os.environ["MUSTER_MCP_URL"], json.dumps(body).encode(), headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                result = json.load(answer)["result"]
                return result.get("structuredContent") or json.loads(result["content"][0]["text"])
        except urllib.error.HTTPError as refused:
            if refused.code in (401, 403):
                # Relieved, or done: another agent has the place, or nobody needs one any more.
                raise SystemExit(refused.read().decode())
            time.sleep(1)
        except OSError:
            time.sleep(1)


def all_tasks():
    tasks = []
    while True:
        page = call("epic__list_tasks", limit=100, offset=len(tasks))
        tasks += page["tasks"]
        if not page["tasks"] or len(tasks) >= page["count"]:
            return tasks


def supervise():
    epic = call("agent__get_epic")
    # A title has at most 255 characters.
    wanted = {line[2:][:255]: line[2:] for line in epic["design"].splitlines() if line.startswith("- ")}
    while True:
        tasks = all_tasks()
        titles = {task["title"] for task in tasks}
        for title, line in wanted.items():
            if title not in titles:
                call("epic__create_task", title=title, description=line)
        review = call("epic__get_review_queue").get("currentReview")
        if review:
            call("epic__approve_pr", taskId=review["taskId"], prUrl=review["prUrl"])
        elif titles.issuperset(wanted) and all(task["state"] in ("COMPLETED", "FAILED") for task in tasks):
            print(call("epic__create_epic_pr", title=epic["title"], description=epic["description"]))
            return
        time.sleep(0.5)


def work():
    while True:
        task = call("agent__get_task")
        if "state" not in task:  # Who was sent home is refused.
            return
        if task["state"] == "PENDING":
            call("task__update_state", state="IN_PROGRESS")
        elif task["state"] == "IN_PROGRESS":
            file, text = task["description"].split(": ", 1)
            with open(os.path.join(os.environ["MUSTER_WORKTREE"], file), "w") as out:
                out.write(text + "\n")
            print(call("task__create_pr", title=task["title"], description=task["description"]))
        elif task["state"] == "NEEDS_REBASE":
            print(call("git__rebase"))
        elif task["state"] in ("COMPLETED", "FAILED"):
            return
        time.sleep(0.5)


def orchestrate():
    while True:
        call("orchestrator__list_supervisors")
        time.sleep(30)


{"ORCHESTRATOR": orchestrate, "SUPERVISOR": supervise, "WORKER": work}[os.environ["MUSTER_AGENT_KIND"]]()
