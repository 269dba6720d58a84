//! Tools of one's own, from outside the crate.

use std::sync::{Arc, Mutex};

use ringfence::CallError;
use ringfence::approval::Scripted;
use ringfence::declarations::{self, Declared};
use ringfence::dialect::Item;
use ringfence::event::Event;
use ringfence::policy::action::{Action, Connect};
use ringfence::policy::host::Protocol;
use ringfence::policy::permissions::{ApprovalPolicy, Network};
use ringfence::respond::Turn;
use ringfence::tools::{Invocation, Tool, ToolSet};
use ringfence::{Cancel, script};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::{Case, block_on};

pub(crate) fn cases() -> Vec<Case> {
    plain![
        is_called_like_any_other,
        is_seen_by_scripts,
        is_declared,
        fails_alone,
        acts_with_a_permit_only
    ]
}

/// Weighs a parcel, under whatever name.
pub(crate) struct Weigh {
    pub(crate) name: &'static str,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Parcel {
    /// What is in it.
    content: String,
    /// What goes wrong.
    mishap: Option<Mishap>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Mishap {
    Fails,
    Panics,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Weight {
    /// In grams.
    grams: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl Tool for Weigh {
    type Arguments = Parcel;
    type Reply = Weight;

    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        "Weighs a parcel."
    }

    async fn run(&self, _: Invocation<'_>, parcel: Parcel) -> Result<Weight, CallError> {
        match parcel.mishap {
            None => Ok(Weight {
                grams: parcel.content.len(),
                warning: None,
            }),
            Some(Mishap::Fails) => Err(CallError::failed("the scales are gone")),
            Some(Mishap::Panics) => panic!("the scales fell down"),
        }
    }
}

/// Sends a parcel, which leaves the machine.
#[derive(Clone, Default)]
struct Send {
    sent: Arc<Mutex<Vec<String>>>,
}

impl Tool for Send {
    type Arguments = Parcel;
    type Reply = bool;

    fn name(&self) -> &'static str {
        "send_parcel"
    }

    fn description(&self) -> &'static str {
        "Sends a parcel."
    }

    fn action(&self, _: &Parcel) -> Result<Option<Action>, CallError> {
        Ok(Some(Action::Connect(Connect {
            tool: self.name().to_owned(),
            host: "parcels.example".parse().map_err(CallError::failed)?,
            port: 443,
            protocol: Protocol::Https,
        })))
    }

    async fn run(&self, at: Invocation<'_>, parcel: Parcel) -> Result<bool, CallError> {
        assert!(parcel.mishap.is_none(), "the parcel fell down");
        let permit = at.permit.ok_or_else(|| CallError::failed("no permit"))?;
        let (action, _) = permit.redeem();
        assert!(matches!(action, Action::Connect(_)));
        self.sent.lock().unwrap().push(parcel.content);
        Ok(true)
    }
}

fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.tools = ToolSet::built_in().with(Weigh { name: "weigh" }).unwrap();
    stage.config.script.expose.tools.push("weigh".to_owned());
    stage
}

fn is_called_like_any_other() {
    let engine = stage().engine();
    let call = |arguments: Value| block_on(engine.call("weigh", arguments));
    assert_eq!(
        call(json!({"content": "abc"})).unwrap(),
        json!({"grams": 3})
    );
    for (arguments, code, words) in [
        (json!([]), "bad_arguments", "expected an object"),
        (json!({}), "bad_arguments", "content"),
        (
            json!({"contents": "abc"}),
            "unknown_field",
            "did you mean `content`",
        ),
        (json!({"content": 1}), "bad_arguments", "`content`"),
    ] {
        let error = call(arguments).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(engine.tools().find("weigh").unwrap().name(), "weigh");
    let missing = block_on(engine.call("weight", json!({}))).unwrap_err();
    assert!(
        missing.to_string().contains("did you mean `weigh`"),
        "{missing}"
    );
}

/// What comes of a message with one script.
fn answer(stage: &Stage, script: &str) -> Value {
    let message = format!("<tool-calls>\n{script}\n</tool-calls>");
    let items = block_on(async {
        let engine = stage.engine();
        let turn = Turn::default();
        engine
            .respond(turn, Cancel::new(), message.as_bytes())
            .await
    });
    let output = items.unwrap().into_iter().find_map(|item| match item {
        Item::ScriptToolCallOutput(output) => Some(*output),
        _ => None,
    });
    let output = output.unwrap();
    assert_eq!(output.error, None, "{script}");
    serde_json::from_str(&output.output_json.unwrap()).unwrap()
}

fn is_seen_by_scripts() {
    let stage = stage();
    assert_eq!(
        answer(&stage, "return await tools.weigh({content: 'four'})"),
        json!({"grams": 4})
    );
    let about = answer(&stage, "return await tools.describe('weigh')");
    assert_eq!(about["schema"]["required"], json!(["content"]));
    assert_eq!(about["outputSchema"]["required"], json!(["grams"]));
    let declaration = about["declaration"].as_str().unwrap();
    assert!(
        declaration.starts_with("interface Weight {"),
        "{declaration}"
    );
    assert!(
        declaration.ends_with("): Promise<Weight>;\n"),
        "{declaration}"
    );
    let found = answer(&stage, "return await tools.search('parcel')");
    assert_eq!(
        found,
        json!([{"name": "weigh", "description": "Weighs a parcel."}])
    );
    // What goes wrong in it can be caught, and the script goes on.
    let caught = "const tried = async (mishap) => { try { await tools.weigh({content: '', mishap}) } catch (e) { \
                  return e.message } };\nreturn [await tried('fails'), await tried('panics')]";
    assert_eq!(
        answer(&stage, caught),
        json!([
            "the scales are gone",
            "the tool `weigh` broke off: the scales fell down"
        ])
    );
    // A tool that is not among those for scripts is none of theirs.
    let mut hidden = stage;
    hidden.config.script.expose.tools.pop();
    assert_eq!(
        answer(&hidden, "return await tools.search('parcel')"),
        json!([])
    );
}

fn is_declared() {
    let stage = stage();
    let seen = script::exposed(&stage.config.script.expose, &stage.tools).unwrap();
    let seen: Vec<Declared> = seen.iter().map(script::Exposed::declared).collect();
    let text = declarations::declarations(&seen);
    for part in [
        "interface Weight {\n  /** In grams. */\n  grams: number;\n  warning?: string;\n}\n",
        "  /** Weighs a parcel. */\n  weigh(args: {\n",
        "    content: string;\n",
        "  }): Promise<Weight>;\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mut unknown = stage.config.script.expose;
    unknown.tools.push("weight".to_owned());
    assert!(script::exposed(&unknown, &stage.tools).is_err());
}

fn fails_alone() {
    let engine = stage().engine();
    let call = |mishap: Option<&str>| {
        block_on(engine.call("weigh", json!({"content": "", "mishap": mishap})))
    };
    let failed = call(Some("fails")).unwrap_err();
    assert_eq!(
        (failed.code(), failed.to_string().as_str()),
        ("tool_failed", "the scales are gone")
    );
    let broken = call(Some("panics")).unwrap_err();
    assert_eq!(broken.code(), "tool_panicked", "{broken}");
    assert!(
        broken.to_string().contains("the scales fell down"),
        "{broken}"
    );
    assert_eq!(call(None).unwrap(), json!({"grams": 0}));
}

fn acts_with_a_permit_only() {
    let deny = Scripted::DenyAll {
        message: "not today".to_owned(),
    };
    for (policy, approver, mishap, code) in [
        (ApprovalPolicy::OnRequest, Scripted::ApproveAll, None, None),
        (
            ApprovalPolicy::OnRequest,
            Scripted::ApproveAll,
            Some("panics"),
            Some("tool_panicked"),
        ),
        (
            ApprovalPolicy::OnRequest,
            deny,
            None,
            Some("denied_by_user"),
        ),
        (
            ApprovalPolicy::Never,
            Scripted::ApproveAll,
            None,
            Some("approval_not_possible"),
        ),
    ] {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&told);
        let send = Send::default();
        let mut stage = Stage::new();
        stage.tools = ToolSet::built_in().with(send.clone()).unwrap();
        stage.config.approval.policy = policy;
        stage.config.sandbox.network = Network::AllowList;
        stage.approver = approver;
        stage.listener = Arc::new(move |event: &Event<'_>| {
            heard.lock().unwrap().extend(match event {
                Event::Begin { tool, command, .. } => Some(format!("{tool}: {command}")),
                Event::End { .. } => Some("end".to_owned()),
                _ => None,
            });
        });
        let engine = stage.engine();
        let asked = json!({"content": "cake", "mishap": mishap});
        let result = block_on(engine.call("send_parcel", asked));
        assert_eq!(
            result.as_ref().err().map(CallError::code),
            code,
            "{result:?}"
        );
        let sent = send.sent.lock().unwrap().clone();
        assert_eq!(sent.is_empty(), code.is_some(), "{sent:?}");
        let records = stage.recorded();
        let many = |event: &str| {
            records
                .iter()
                .filter(|record| record["event"] == event)
                .count()
        };
        assert_eq!(many("intent"), 1, "{records:?}");
        assert_eq!(many("outcome"), 1, "{records:?}");
        let mut intents = records.iter().filter(|record| record["event"] == "intent");
        assert!(
            intents.all(|record| record["tool"] == "send_parcel"),
            "{records:?}"
        );
        let told = told.lock().unwrap().clone();
        assert_eq!(
            told,
            ["send_parcel: connect to parcels.example:443 (https)", "end"],
            "{code:?}"
        );
    }
}
