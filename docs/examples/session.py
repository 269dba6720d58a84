"""Drives `ringfence session`: python3 session.py [PROGRAM], in the folder to work in."""
import json, subprocess, sys

class Session:
    def __init__(self, program, functions, **options):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.program = subprocess.Popen([program, "session", "--protocol", "jsonrpc"], **pipes)
        self.functions, self.last = functions, 0
        self.request("initialize", protocol_version=1, client={"name": "example"}, options=options)

    def send(self, **message):
        print(json.dumps({"jsonrpc": "2.0", **message}), file=self.program.stdin, flush=True)

    def request(self, method, **params):
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        for line in self.program.stdout:
            message = json.loads(line)
            if "method" in message:
                self.serve(message.get("id"), message["method"], message["params"])
            else:
                return message["result"]  # or there is an error

    def serve(self, id, method, params):
        if method == "question":  # A real client shows it to somebody.
            print("asked:", params["command"], "-", params["reason"])
            self.send(id=id, result={"answer": "once"})
        elif method == "function":
            function = self.functions[params["function"]]
            self.send(id=id, result={"value": function(*params["arguments"])})
        elif method == "report":
            print("reported:", params["value"])

    def call(self, tool, **arguments):
        return self.request("call", tool=tool, arguments=arguments)["reply"]
functions = {"price": {"apple": 3, "pear": 4}.get, "round": round}
session = Session((sys.argv + ["ringfence"])[1], functions, approval="on-request")
# A command that somebody is asked about.
print("command:", session.call("bash", command="python3 -c 'print(6 * 7)'")["stdout"].strip())
# A terminal, at which something is typed.
shell = session.call("exec_command", command=["bash", "--norc"], tty=True, wait_for="output")
typed = session.call("write_stdin", process_id=shell["process_id"], yield_time_ms=20000,
                     input="test -t 0 && echo a term''inal\n", pattern="a terminal")
print("typed:", "a terminal" in typed["output"])
# A server in the background, which the next call reaches.
server = session.call("bash", command="python3 -um http.server 8000",
                      run_in_background=True)["backgroundTaskId"]
session.call("bash_task_output", taskId=server, waitMs=20000, pattern="Serving")
print("served:", "<html" in session.call("bash", command="curl -s http://127.0.0.1:8000/")["stdout"])
print("stopped:", session.call("bash_task_stop", taskId=server)["status"])
# A script that calls tools.
script = session.call("run_script", source="return (await tools.exec({command: ['ls']})).exitCode")
print("script:", json.loads(script["output_json"]))
# Code that calls functions of this program: `price` is awaited, `round` is waited for.
code = """import { price } from 'shop'; report('begun');
export default round((await price('apple')) * 1.5 + (await price('pear')))"""
options = {"imports": {"shop": {"price": {"$": "function", "name": "price"}}},
           "globals": {"round": {"$": "function", "name": "round", "sync": True}}, "report": True}
print("code:", session.call("run_code", source=code, options=options)["result"])
print("ended:", [ended["command"] for ended in session.request("shutdown")["ended"]])
