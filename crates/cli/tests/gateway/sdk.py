"""The official SDKs drive the gateway: sdk.py BASE_URL. Everything that they read is validated by their own types."""

import json
import sys

import anthropic
import openai

base = sys.argv[1]
openai_client = openai.OpenAI(
    base_url=base + "/v1", api_key="k", max_retries=0, _strict_response_validation=True
)
anthropic_client = anthropic.Anthropic(
    base_url=base, api_key="k", max_retries=0, _strict_response_validation=True
)

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def responses(case, stream):
    asked = dict(
        model="m",
        input="case " + case,
        tools=[{"type": "function", "name": "weather", "parameters": WEATHER, "strict": False}],
    )
    if stream:
        seen = ""
        with openai_client.responses.stream(**asked) as events:
            for event in events:
                if event.type == "response.output_text.delta":
                    seen += event.delta
            answer = events.get_final_response()
        assert seen == answer.output_text, (seen, answer.output_text)
    else:
        answer = openai_client.responses.create(**asked)
    thoughts = "".join(
        part.text for item in answer.output if item.type == "reasoning" for part in item.summary
    )
    calls = [
        (item.name, json.loads(item.arguments))
        for item in answer.output
        if item.type == "function_call"
    ]
    return answer.output_text, thoughts, calls, answer.usage.output_tokens


def chat(case, stream):
    asked = dict(
        model="m",
        messages=[{"role": "user", "content": "case " + case}],
        tools=[{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}],
    )
    thoughts = ""
    if stream:
        with openai_client.chat.completions.stream(
            **asked, stream_options={"include_usage": True}
        ) as events:
            for event in events:
                if event.type == "chunk" and event.chunk.choices:
                    delta = event.chunk.choices[0].delta
                    thoughts += getattr(delta, "reasoning_content", None) or ""
            answer = events.get_final_completion()
    else:
        answer = openai_client.chat.completions.create(**asked)
        thoughts = getattr(answer.choices[0].message, "reasoning_content", None) or ""
    message = answer.choices[0].message
    assert message.role == "assistant", message.role
    calls = [
        (call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or []
    ]
    expected = "tool_calls" if calls else "stop"
    assert answer.choices[0].finish_reason == expected, answer.choices[0].finish_reason
    return message.content or "", thoughts, calls, answer.usage.completion_tokens


def messages(case, stream):
    asked = dict(
        model="m",
        max_tokens=1000,
        messages=[{"role": "user", "content": "case " + case}],
        tools=[{"name": "weather", "input_schema": WEATHER}],
    )
    if stream:
        seen = ""
        with anthropic_client.messages.stream(**asked) as events:
            for event in events:
                if event.type == "text":
                    seen += event.text
            answer = events.get_final_message()
    else:
        answer = anthropic_client.messages.create(**asked)
    text = "".join(block.text for block in answer.content if block.type == "text")
    if stream:
        assert seen == text, (seen, text)
    thoughts = "".join(block.thinking for block in answer.content if block.type == "thinking")
    for block in answer.content:
        if block.type == "thinking":
            assert block.signature.startswith("signature/"), block
    calls = [(block.name, block.input) for block in answer.content if block.type == "tool_use"]
    expected = "tool_use" if calls else "end_turn"
    assert answer.stop_reason == expected, answer.stop_reason
    return text, thoughts, calls, answer.usage.output_tokens


for name, ask in [("responses", responses), ("chat", chat), ("messages", messages)]:
    for stream in [False, True]:
        for case in ["plain", "thinking", "call", "script", "script-and-call", "many-scripts"]:
            way = "stream" if stream else "whole"
            text, thoughts, calls, tokens = ask(f"{case}-{name}-{way}", stream)
            print(json.dumps([name, way, case, text, thoughts, calls, tokens]), flush=True)
    try:
        ask(f"refused-{name}", False)
    except (openai.BadRequestError, anthropic.BadRequestError) as error:
        print(json.dumps([name, "whole", "refused", str(error.body), "", [], 0]), flush=True)

models = [model.id for model in openai_client.models.list()]
print(json.dumps(["openai", "whole", "models", ",".join(models), "", [], 0]))
