//! What the network allow-list costs: how fast bytes go through the proxy beside a direct transfer, and what
//! a launch takes with the list on beside one with the network off.

#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence_bench::contest::{self, Contender, Times, Trouble};
use ringfence_bench::fenced::Fenced;
use ringfence_bench::target::{Bound, Target};
use ringfence_jail::net::{
    Admission, Bounds, ConnectionRefusal, ConnectionRequest, Gate, Header, Traffic,
};
use ringfence_jail::{Input, Io, Output};
use ringfence_policy::action::{Action, Connect};
use ringfence_policy::host::Protocol;
use ringfence_policy::judge::{Escalation, Premises, SessionApprovals, judge};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, Network, SandboxPolicy};
use ringfence_policy::rule::Layer;
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::{Ground, Verdict};
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;

/// What is transferred each time.
const BYTES: usize = 256 << 20;
const TRANSFERS: u32 = 7;
const LAUNCHES: u32 = 60;
const JOB: &str = "/bin/true";

fn main() -> ExitCode {
    ringfence_jail::serve_if_asked();
    let arguments: Vec<String> = std::env::args().collect();
    let transferred = match arguments.get(1).map(String::as_str) {
        Some("__direct") => Some(transfer(&arguments[2], None)),
        Some("__proxied") => Some(transfer(&arguments[2], std::env::var("HTTP_PROXY").ok())),
        _ => None,
    };
    if let Some(transferred) = transferred {
        return match transferred {
            Ok(took) => {
                println!("{}", took.as_micros());
                ExitCode::SUCCESS
            }
            Err(trouble) => {
                eprintln!("{trouble}");
                ExitCode::FAILURE
            }
        };
    }
    match run() {
        Ok(targets) => {
            let check = arguments.iter().any(|argument| argument == "--check");
            let missed = targets.iter().any(Target::is_clearly_missed);
            ExitCode::from(u8::from(check && missed))
        }
        Err(trouble) => {
            eprintln!("proxy: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Reads everything that a server sends, by itself or through a proxy. Gives the time from the
/// first byte to the last.
fn transfer(server: &str, proxy: Option<String>) -> Result<Duration, Trouble> {
    let mut stream = match proxy {
        None => TcpStream::connect(server)?,
        Some(proxy) => {
            let mut stream = TcpStream::connect(proxy.trim_start_matches("http://"))?;
            write!(stream, "CONNECT {server} HTTP/1.1\r\n\r\n")?;
            let mut agreed = Vec::new();
            let mut byte = [0];
            while !agreed.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte)?;
                agreed.extend(byte);
            }
            if !agreed.starts_with(b"HTTP/1.1 200") {
                return Err(String::from_utf8_lossy(&agreed).into());
            }
            stream
        }
    };
    stream.write_all(b"!")?;
    let mut buffer = vec![0; 256 << 10];
    let start = Instant::now();
    let mut left = BYTES;
    while left > 0 {
        match stream.read(&mut buffer)? {
            0 => return Err("the transfer was cut off".into()),
            count => left -= count,
        }
    }
    Ok(start.elapsed())
}

/// Sends to everybody who asks.
fn serve() -> Result<String, Trouble> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        let page = vec![b'x'; 256 << 10];
        for client in listener.incoming().flatten() {
            let mut client = client;
            if client.read_exact(&mut [0]).is_ok() {
                let mut left = BYTES;
                while left > 0 {
                    let count = left.min(page.len());
                    if client.write_all(&page[..count]).is_err() {
                        break;
                    }
                    left -= count;
                }
            }
        }
    });
    Ok(address)
}

/// Lets everything through that a rule allows.
struct Open {
    rules: RuleSet,
    sandbox: SandboxPolicy,
}

impl Gate for Open {
    fn admit(&self, wanted: ConnectionRequest) -> Admission<'_> {
        let (ConnectionRequest::Request { host, port }
        | ConnectionRequest::Tunnel { host, port }
        | ConnectionRequest::Tls { host, port }) = wanted;
        let subject = format!("{host}:{port}");
        let connect = Connect {
            tool: "bench".to_owned(),
            host,
            port,
            protocol: Protocol::Tcp,
        };
        let premises = Premises {
            ground: &Ground::at("/"),
            sandbox: &self.sandbox,
            limits: &Limits::default(),
            approval: ApprovalPolicy::Never,
            escalation: Escalation::Off,
            rules: &self.rules,
            approvals: &SessionApprovals::default(),
        };
        let judged = match judge(Action::Connect(connect), &premises).verdict {
            Verdict::Allow(permit) => Ok(permit),
            _ => Err(ConnectionRefusal {
                code: "not_allowed",
                subject,
                reason: "no rule is about it".to_owned(),
                allow: None,
            }),
        };
        Box::pin(std::future::ready(judged))
    }

    fn admit_address(&self, _: &Connect, _: IpAddr) -> Result<(), ConnectionRefusal> {
        Ok(())
    }

    fn headers(&self, _: &Connect) -> Vec<Header> {
        Vec::new()
    }

    fn refused(&self, _: &ConnectionRefusal) {}

    fn ended(&self, _: &Connect, _: Traffic) {}

    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
}

fn run() -> Result<Vec<Target>, Trouble> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let scratch = tempfile::Builder::new()
        .prefix("ringfence-bench-")
        .tempdir_in("/var/tmp")?;
    let listed = Fenced::open(scratch.path())?.with_network(Network::AllowList);
    let off = Fenced::open(scratch.path())?;
    let mut targets = vec![throughput(&runtime, &listed)?];
    targets.push(launches(&runtime, &listed, &off)?);
    println!();
    for target in &targets {
        println!("{target}");
    }
    Ok(targets)
}

fn throughput(runtime: &Runtime, listed: &Fenced) -> Result<Target, Trouble> {
    let server = serve()?;
    let rule = format!("[[rule]]\nhost = \"{server}\"\ndecision = \"allow\"\n");
    let gate: Arc<dyn Gate> = Arc::new(Open {
        rules: RuleSet::parse(Layer::User, "bench", &rule)?,
        sandbox: SandboxPolicy::workspace_write("/"),
    });
    let this = std::env::current_exe()?.display().to_string();
    let (direct_server, proxied_server) = (server.clone(), server);
    let mut contenders = vec![
        Contender {
            name: "direct".into(),
            turn: Box::new(|| {
                let output = Command::new(&this)
                    .args(["__direct", &direct_server])
                    .stderr(Stdio::inherit())
                    .output()?;
                micros(&output.stdout)
            }),
        },
        Contender {
            name: "through the proxy".into(),
            turn: Box::new(|| {
                let argv = [this.as_str(), "__proxied", &proxied_server];
                runtime.block_on(async {
                    let mut process = listed.start_through(&argv, Arc::clone(&gate)).await?;
                    let Some(Output::Pipes {
                        mut stdout,
                        mut stderr,
                    }) = process.output.take()
                    else {
                        return Err("no pipes".into());
                    };
                    let (mut said, mut complained) = (Vec::new(), String::new());
                    stdout.read_to_end(&mut said).await?;
                    stderr.read_to_string(&mut complained).await?;
                    process.gone().await?;
                    micros(&said).map_err(|_| complained.into())
                })
            }),
        },
    ];
    let mut times = vec![Times::default(); 2];
    contest::hold(&mut contenders, &mut vec![Times::default(); 2], 1)?;
    contest::hold(&mut contenders, &mut times, TRANSFERS)?;
    #[allow(clippy::cast_precision_loss, reason = "a rate for a person")]
    let rate = |time: &Times| BYTES as f64 / 1e9 / time.median().as_secs_f64();
    println!(
        "\n{} MiB over the loopback, {TRANSFERS} times each, GB/s\n",
        BYTES >> 20
    );
    for (contender, time) in contenders.iter().zip(&times) {
        println!("{:<24} {:>6.2}", contender.name, rate(time));
    }
    Ok(Target {
        what: "throughput, proxy / direct",
        measured: rate(&times[1]) / rate(&times[0]),
        bound: Bound::AtLeast(0.5),
    })
}

fn micros(printed: &[u8]) -> Result<Duration, Trouble> {
    let text = String::from_utf8_lossy(printed);
    Ok(Duration::from_micros(text.trim().parse()?))
}

fn launches(runtime: &Runtime, listed: &Fenced, off: &Fenced) -> Result<Target, Trouble> {
    let contender = |name: &str, fenced| Contender {
        name: name.into(),
        turn: Box::new(move || {
            runtime.block_on(Fenced::time(fenced, &[JOB], Io::Pipes(Input::Null)))
        }),
    };
    let mut contenders = vec![
        contender("network off", off),
        contender("allow-list", listed),
    ];
    let mut times = vec![Times::default(); 2];
    contest::hold(&mut contenders, &mut vec![Times::default(); 2], 5)?;
    contest::hold(&mut contenders, &mut times, LAUNCHES)?;
    let millis = |time: &Times| time.median().as_secs_f64() * 1000.0;
    println!("\n{JOB} in the fence, {LAUNCHES} times each, milliseconds\n");
    for (contender, time) in contenders.iter().zip(&times) {
        println!("{:<24} {:>6.2}", contender.name, millis(time));
    }
    Ok(Target {
        what: "launch, milliseconds more than off",
        measured: millis(&times[1]) - millis(&times[0]),
        bound: Bound::AtMost(1.0),
    })
}
