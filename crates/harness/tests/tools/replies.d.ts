interface BackgroundProcess {
  /** Its number. */
  pid: number;
  /** What it runs. */
  command: string;
}

interface BashOutput {
  /** What it printed to standard output. */
  stdout: string;
  /** What it printed to standard error. */
  stderr: string;
  /** Its exit code, once it has ended. */
  exitCode?: number;
  /** Whether it was ended before its time. */
  interrupted: boolean;
  /** Whether standard output is an image. */
  isImage: boolean;
  /** How long it took, in milliseconds. */
  durationMs?: number;
  /** Where it ran. */
  sandbox?: string;
  /** What is left out, or how to go on. */
  summary?: string;
  /** The output in blocks, if it is not text. */
  structuredContent?: Array<{
    type: "text";
    /** The text. */
    text: string;
  } | {
    type: "image";
    /** The image, in base64. */
    data: string;
    /** Its media type. */
    mimeType: string;
  } | {
    type: "binary";
    /** What it is. */
    kind: string;
    /** Its media type. */
    mimeType: string;
    /** Its size. */
    bytes: number;
  }>;
  /** The file with the whole output, if some of it is left out. */
  rawOutputPath?: string;
  /** Whether that file has only the beginning. */
  rawOutputCut?: boolean;
  /** The task that it is, or that keeps what it left running. */
  backgroundTaskId?: string;
  /** How the task stands. */
  status?: "running" | "completed" | "failed" | "cancelled";
  /** What the exit code means. */
  returnCodeInterpretation?: string;
  /** What the fence refused. */
  denials?: Denial[];
  /** The limits that it hit. */
  limits_hit?: LimitHit[];
  /** Why it was not tried again although the fence refused something. */
  not_retried?: string;
  /** How it was run again after the fence had refused something: what was granted inside, or that it ran outside. */
  retried?: string;
  /** Why it was stopped. */
  stopped_because?: string;
  /** The processes that it left running. */
  background_processes?: BackgroundProcess[];
  /** How to end them, or those of another command that `kill` did not see. */
  to_stop_them?: string;
}

interface CodeError {
  /** The kind of error, such as `TypeError`. */
  name: string;
  /** What happened. */
  message: string;
  /** Where in the script. */
  stack?: string;
  /** The module that could not be imported. */
  specifier?: string;
  /** The file that line and column belong to. */
  filename?: string;
  /** The line, from 1. */
  line?: number;
  /** The column, from 1. */
  column?: number;
}

interface CodeLog {
  /** The method of the console. */
  level: string;
  /** Its arguments. */
  args: unknown[];
  /** When, in milliseconds since 1970. */
  timestamp: number;
}

interface CodeOutput {
  /** How it ended. */
  status: "success" | "error" | "memory" | "terminated" | "link_error";
  /** The export, if it succeeded. */
  result?: unknown;
  /** What it reported, in order. */
  reports: unknown[];
  /** What it wrote to the console. */
  logs: CodeLog[];
  /** Why it did not succeed. */
  error?: CodeError;
  /** How long it took, in milliseconds. */
  durationMs: number;
  /** The most bytes that its values took at once. */
  memoryUsedBytes?: number;
}

interface Denial {
  /** What kind of thing. */
  kind: "write" | "read" | "network" | "host" | "socket" | "system-call" | "git-setup";
  /** What it was about: a path, mostly. */
  subject: string;
  /** Why it was refused. */
  reason: string;
  /** How one would allow it. */
  allow: string;
  /** How it is known. */
  evidence: "seen" | "output";
  /** What would allow just that, inside the fence, if anything would. */
  grant?: {
    kind: "writable";
    /** Which. */
    path: string;
  } | {
    kind: "readable";
    /** Which. */
    path: string;
  } | {
    kind: "host";
    /** Its name, and its port if it is not an ordinary one. */
    host: string;
  } | {
    kind: "socket";
    /** Where it is. */
    path: string;
  } | {
    kind: "unprotected";
    /** As `sandbox.protected_paths` names it. */
    path: string;
  } | {
    kind: "network";
  };
}

interface Dropped {
  /** Lines of the console. */
  logs: number;
  /** Words on how it got on. */
  progress: number;
}

interface ExecToolCallOutput {
  /** Its exit code; 124 if it took too long. */
  exit_code: number;
  /** What it printed to standard output. */
  stdout: StreamOutput;
  /** What it printed to standard error. */
  stderr: StreamOutput;
  /** Both, in the order they came. */
  aggregated_output: StreamOutput;
  /** How long it took, in milliseconds. */
  duration: number;
  /** Whether it was ended because it took too long. */
  timed_out: boolean;
  /** Where it ran. */
  sandbox: string;
  /** What the exit code means. */
  exit_code_meaning?: string;
  /** The file with the whole output, if some of it is left out. */
  raw_output_path?: string;
  /** Whether that file has only the beginning. */
  raw_output_cut?: boolean;
  /** Whether standard output is an image, if it is not text. */
  is_image?: boolean;
  /** The output in blocks, if it is not text. */
  structured_content?: Array<{
    type: "text";
    /** The text. */
    text: string;
  } | {
    type: "image";
    /** The image, in base64. */
    data: string;
    /** Its media type. */
    mimeType: string;
  } | {
    type: "binary";
    /** What it is. */
    kind: string;
    /** Its media type. */
    mimeType: string;
    /** Its size. */
    bytes: number;
  }>;
  /** The task that keeps what it left running. */
  background_task_id?: string;
  /** What the fence refused. */
  denials?: Denial[];
  /** The limits that it hit. */
  limits_hit?: LimitHit[];
  /** Why it was not tried again although the fence refused something. */
  not_retried?: string;
  /** How it was run again after the fence had refused something: what was granted inside, or that it ran outside. */
  retried?: string;
  /** Why it was stopped. */
  stopped_because?: string;
  /** The processes that it left running. */
  background_processes?: BackgroundProcess[];
  /** How to end them, or those of another command that `kill` did not see. */
  to_stop_them?: string;
}

interface FileSearchResult {
  /** Its path below the session's folder. */
  path: string;
  /** How well it fits; comparable within one search. */
  score: number;
  /** Which characters of the path fit, as UTF-16 counts them; absent for a pattern. */
  indices?: number[];
}

interface HttpResponse {
  /** The status, such as 200. */
  status: number;
  /** The headers, with names in lower case. */
  headers: Record<string, string>;
  /** The body, if it is text. */
  body?: string;
  /** The body in base64, if it is not. */
  bodyBase64?: string;
  /** Whether there is more of the body than is returned. */
  truncated: boolean;
  /** Where the answer came from, if the request was redirected. */
  url?: string;
}

interface LimitHit {
  /** Which. */
  limit: "cpu-time" | "memory" | "process-memory" | "processes" | "file-size" | "open-files" | "disk" | "tmp" | "wall-clock";
  /** Its value. */
  value: number;
  /** What the value counts. */
  unit: "bytes" | "milliseconds" | "processes" | "descriptors";
  /** The setting that raises it. */
  setting: string;
  /** How it is known. */
  evidence: "enforced" | "exit-code" | "output";
  /** All of it in one sentence. */
  message: string;
}

interface ListedCommand {
  /** Its id. */
  id: string;
  /** How it stands. */
  status: "running" | "completed" | "failed" | "cancelled";
  /** What it runs. */
  command: string;
  /** When it was started, in milliseconds since 1970. */
  startedAt: number;
  /** How much it has printed. */
  outputBytes: number;
  /** Its exit code; null if it still runs. */
  exitCode: number | null;
}

interface Lists {
  /** The background tasks. */
  tasks: ListedCommand[];
  /** The commands that `exec_command` left open. */
  processes: ListedCommand[];
}

interface LogLine {
  /** The method that printed it. */
  level: "log" | "info" | "warn" | "error" | "debug";
  /** What it says. */
  text: string;
}

interface OutputMetadata {
  /** How long it took. */
  duration_ms: number;
  /** How many tools it called. */
  tool_calls_made: number;
  /** The most memory that it held at once. */
  memory_used_mb?: number;
}

interface PatchChange {
  /** The file. */
  path: string;
  /** How. */
  kind: "add" | "delete" | "update";
  /** Where it was before. */
  movedFrom?: string;
}

interface PatchResult {
  /** Always: a patch that was not applied is an error. */
  success: boolean;
  /** What has changed, a line for each file. */
  summary: string;
  /** What has changed. */
  changes: PatchChange[];
  /** What was done differently than the patch says. */
  notes?: string[];
}

interface ProcessOutput {
  /** What it has printed since the last time. */
  output: string;
  /** Its name for `write_stdin`; null if it has ended. */
  process_id: string | null;
  /** Its exit code; null if it still runs. */
  exit_code: number | null;
  /** How long the call took, in milliseconds. */
  wall_time_ms: number;
  /** How much of the output is left out. */
  omitted_bytes?: number;
  /** The screen of its terminal, if the call asked for it. */
  screen?: ScreenPicture;
  /** The file with the whole output, if that was long. */
  raw_output_path?: string;
  /** Whether that file has only the beginning. */
  raw_output_cut?: boolean;
  /** The task that keeps what it left running. */
  background_task_id?: string;
  /** What the fence refused. */
  denials?: Denial[];
  /** The limits that it hit. */
  limits_hit?: LimitHit[];
  /** Why it was not tried again although the fence refused something. */
  not_retried?: string;
  /** How it was run again after the fence had refused something: what was granted inside, or that it ran outside. */
  retried?: string;
  /** Why it was stopped. */
  stopped_because?: string;
  /** The processes that it left running. */
  background_processes?: BackgroundProcess[];
  /** How to end them, or those of another command that `kill` did not see. */
  to_stop_them?: string;
  /** That soon no more commands can be kept, or that nothing was started. */
  warning?: string;
}

interface ProgressLine {
  /** Of which kind. */
  kind: "info" | "warn";
  /** What it says. */
  text: string;
}

interface Reply {
  /** Which item it is. */
  type: "script_tool_call_output";
  /** The script's own id. */
  id: string;
  /** The id that it shares with its call. */
  call_id: string;
  /** What it returned, as JSON text; what its tools had returned by then, if it failed. */
  output_json?: string;
  /** Why it failed. */
  error?: ScriptError;
  /** The `message` of what it returned. */
  summary?: string;
  /** What the model ought to know besides: calls that were not awaited, rejections that nobody handled. */
  warnings?: string[];
  /** The lines of its console, in order. */
  logs?: LogLine[];
  /** How it got on, in order. */
  progress?: ProgressLine[];
  /** How much of it was not kept, because it came too fast or was too much. */
  dropped?: Dropped;
  /** What it cost. */
  metadata: OutputMetadata;
}

interface ScreenCursor {
  /** The line. */
  row: number;
  /** The column, in cells: some characters take two. */
  column: number;
  /** Whether the program shows it. */
  visible: boolean;
}

interface ScreenPicture {
  /** Its lines. */
  text: string;
  /** Where the cursor is, counted from 0. */
  cursor: ScreenCursor;
  /** The title that the program set. */
  title: string | null;
  /** Whether it is the screen of a program that takes all of it, such as an editor. */
  alternate: boolean;
}

interface ScriptError {
  /** What went wrong. */
  code: "ScriptSyntaxError" | "ScriptRuntimeError" | "ScriptTimeoutError" | "ScriptCancelledError" | "ScriptMemoryError" | "ApprovalDeniedError" | "ApprovalTimeoutError" | "ToolExecutionError" | "ToolNotFoundError" | "ToolValidationError" | "ToolBudgetExceededError" | "DetachedPromiseError" | "HarnessInternalError" | "SerializationError";
  /** What went wrong, in words. */
  message: string;
  /** When. */
  phase: "parsing" | "executing" | "finalizing";
  /** The tool that was being called. */
  toolName?: string;
  /** The call of that tool. */
  callId?: string;
  /** Where in the script: its own lines only. */
  stack?: string;
  /** Whatever else there is to know, such as `elapsedMs`. */
  metadata?: Record<string, unknown>;
}

interface StreamOutput {
  /** The text, without its middle if it is long. */
  text: string;
  /** How many lines there are before what is left out. */
  truncated_after_lines?: number;
}

interface TaskReply {
  /** What it has printed to standard output since the last time. */
  stdout: string;
  /** What it has printed to standard error since the last time. */
  stderr: string;
  /** Its exit code; null if it still runs. */
  exitCode: number | null;
  /** Whether it was stopped. */
  interrupted: boolean;
  /** Whether standard output is an image. */
  isImage: boolean;
  /** The task. */
  backgroundTaskId: string;
  /** How it stands. */
  status: "running" | "completed" | "failed" | "cancelled";
  /** How much of the output is left out. */
  omittedBytes?: number;
  /** How many lines the filter dropped. */
  filteredLines?: number;
  /** The output in blocks, if it is not text. */
  structuredContent?: Array<{
    type: "text";
    /** The text. */
    text: string;
  } | {
    type: "image";
    /** The image, in base64. */
    data: string;
    /** Its media type. */
    mimeType: string;
  } | {
    type: "binary";
    /** What it is. */
    kind: string;
    /** Its media type. */
    mimeType: string;
    /** Its size. */
    bytes: number;
  }>;
  /** How long it took, in milliseconds. */
  durationMs?: number;
  /** The file with the whole output, if that was long. */
  rawOutputPath?: string;
  /** Whether that file has only the beginning. */
  rawOutputCut?: boolean;
  /** The task that keeps what it left running. */
  leftRunningTaskId?: string;
  /** What the fence refused. */
  denials?: Denial[];
  /** The limits that it hit. */
  limits_hit?: LimitHit[];
  /** Why it was not tried again although the fence refused something. */
  not_retried?: string;
  /** How it was run again after the fence had refused something: what was granted inside, or that it ran outside. */
  retried?: string;
  /** Why it was stopped. */
  stopped_because?: string;
  /** The processes that it left running. */
  background_processes?: BackgroundProcess[];
  /** How to end them, or those of another command that `kill` did not see. */
  to_stop_them?: string;
}

declare const context: {
  readonly conversationId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly scriptId: string;
  readonly workingDirectory: string;
  readonly provider: string;
  readonly model: string;
  readonly sandbox: {
    readonly timeoutMs: number;
    readonly memoryMb: number;
    readonly remainingToolBudget: number;
    readonly maxConcurrentToolCalls: number;
    readonly mode: "disabled" | "dry-run" | "enabled";
  };
  readonly capabilities: { readonly tools: readonly string[] };
  readonly approvals: { readonly required: boolean; readonly lastRequestId?: string };
  readonly telemetry: { emitProgress(message: string, kind?: "info" | "warn"): void };
  emitProgress(message: string, kind?: "info" | "warn"): void;
};

declare const console: {
  log(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
};

declare const tools: {
  /** Adds, updates, moves and deletes files by a patch: all of it, or nothing. */
  apply_patch(args: unknown): Promise<PatchResult>;
  /** Runs a bash command inside the fence and returns its output. */
  bash(args: unknown): Promise<BashOutput>;
  /** Lists the background tasks and the open processes of the session. */
  bash_task_list(args: unknown): Promise<Lists>;
  /** Returns what a background task has printed since the last time, and how it stands. With `waitMs` it waits for the task's end, for output or for a pattern instead of being asked again and again. */
  bash_task_output(args: unknown): Promise<TaskReply>;
  /** Ends a background task and everything that it started: it is asked to end, and killed if it has not after a while. */
  bash_task_stop(args: unknown): Promise<TaskReply>;
  /** Starts a command inside the fence, on a terminal or on pipes, and returns what it has printed after a while. If it still runs then, `process_id` names it for `write_stdin`. */
  exec_command(args: unknown): Promise<ProcessOutput>;
  /** Finds files by a part of their path or by a pattern such as `*.test.ts`, best first. */
  file_search(args: unknown): Promise<FileSearchResult[]>;
  /** Sends an HTTP request and returns the answer. A status such as 404 is an answer, not an error; a person may be asked about the host first. Redirects are followed. */
  http(args: unknown): Promise<HttpResponse>;
  /** Runs an ES module (JavaScript or TypeScript) that reaches nothing but what it is given, and returns one of its exports. */
  run_code(args: unknown): Promise<CodeOutput>;
  /** Runs a script, the body of an async function in TypeScript, that calls tools as `await tools.exec({command: ["ls"]})` and returns JSON. */
  run_script(args: unknown): Promise<Reply>;
  /** Runs a program with arguments inside the fence and returns its output. */
  shell(args: unknown): Promise<ExecToolCallOutput>;
  /** Runs a text in the user's shell inside the fence and returns its output. */
  shell_command(args: unknown): Promise<ExecToolCallOutput>;
  /** Types to a command that `exec_command` left running, waits, and returns what it has printed since. Without `input` it only waits. */
  write_stdin(args: unknown): Promise<ProcessOutput>;
  /** The tools that have these words in their name or description. */
  search(query: string): Promise<Array<{ name: string; description: string }>>;
  /** All about one tool, its declaration included. */
  describe(name: string): Promise<{ name: string; description: string; schema: unknown; outputSchema: unknown; declaration: string }>;
};
