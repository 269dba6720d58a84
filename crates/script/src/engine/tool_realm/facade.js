// What a tool script finds: `tools`, `context` and `console`. Every call of a tool goes to the host, which decides;
// nothing here is trusted by anybody but the script.

const PLAIN = new Set(['then', 'toJSON', 'constructor', 'prototype', '__proto__']);
const context = {};
const marks = new WeakMap();
let host;
let limits;
let made = 0;
let counted = 0;
// These touch nothing, and no budget is charged for them.
const LOOKING = new Set(['search', 'describe']);

const mark = (error, number) => {
    marks.set(error, number);
    return error;
};

const named = (name, message, extra = {}) => {
    const error = new Error(message);
    hide(error, 'name', name);
    hide(error, 'code', name);
    for (const key of Object.keys(extra)) hide(error, key, extra[key]);
    return error;
};

const freeze = (value) => {
    const ahead = [value];
    while (ahead.length > 0) {
        const object = ahead.pop();
        if (typeof object !== 'object' || object === null || Object.isFrozen(object)) continue;
        Object.freeze(object);
        ahead.push(...Object.values(object));
    }
    return value;
};

// Text of a value as JSON, or an error that says where it cannot be written and what to do instead.
const toJson = (root, deepest) => {
    const refuse = (path, what) => {
        throw mark(named('SerializationError', `${path} ${what}`), -1);
    };
    const above = new Set();
    const plain = (holder, path, depth) => {
        let value = holder;
        if (typeof value === 'object' && value !== null && typeof value.toJSON === 'function') value = value.toJSON();
        switch (typeof value) {
            case 'bigint': return refuse(path, 'is a bigint, which JSON lacks; return a string or a number instead');
            case 'symbol': return refuse(path, 'is a symbol, which JSON lacks');
            case 'function': return refuse(path, 'is a function; return data instead');
            case 'object': break;
            // Whoever reads it may not be able to hold half of a surrogate pair.
            case 'string': return value.toWellFormed();
            default: return value;
        }
        if (value === null) return null;
        if (isPromise(value)) return refuse(path, 'is a promise; await it first');
        if (value instanceof Map) return refuse(path, 'is a Map; use Object.fromEntries(map) or [...map]');
        if (value instanceof Set) return refuse(path, 'is a Set; use [...set]');
        if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return refuse(path, 'is binary; use an array of numbers');
        if (depth >= deepest) return refuse(path, `is nested deeper than ${deepest} levels`);
        if (above.has(value)) return refuse(path, 'contains itself');
        above.add(value);
        let copy;
        if (Array.isArray(value)) {
            copy = Array.from(value, (item, at) => plain(item, `${path}[${at}]`, depth + 1));
        } else if (value instanceof Error) {
            copy = { name: String(value.name).toWellFormed(), message: String(value.message).toWellFormed() };
            if (Array.isArray(value.errors)) copy.errors = plain(value.errors, `${path}.errors`, depth + 1);
        } else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
            copy = plain(value.valueOf(), path, depth);
        } else {
            copy = {};
            for (const key of Object.keys(value)) {
                const item = plain(value[key], `${path}.${key}`, depth + 1);
                Object.defineProperty(copy, key.toWellFormed(), { value: item, enumerable: true, configurable: true, writable: true });
            }
        }
        above.delete(value);
        return copy;
    };
    return JSON.stringify(plain(root, 'the value', 0));
};

const argumentsOf = (path, args) => {
    try {
        return toJson(args.length === 0 ? {} : args[0], limits.argumentDepth);
    } catch (error) {
        throw mark(named('ToolValidationError', `the arguments of \`${path}\` cannot be sent: ${error.message}`,
            { toolName: path }), -1);
    }
};

// A call of a tool: a promise that the host settles, or that is aborted here first, unless it is detached.
const invoke = (path, args, detached = false) => {
    const { promise, resolve, reject } = Promise.withResolvers();
    const [, ...frames] = new Error().stack.split('\n');
    const node = nodeOf(promise);
    let text;
    try {
        text = argumentsOf(path, args);
    } catch (error) {
        reject(error);
        return { promise, error };
    }
    const number = made;
    made += 1;
    if (!LOOKING.has(path)) counted += 1;
    const end = () => {
        node.settled = true;
    };
    const fail = ({ name, message, ...extra }) => {
        end();
        const error = named(name, message, { toolName: path, callId: `tool_${number}`, ...extra });
        hide(error, 'stack', [`${name}: ${message}`, ...frames].join('\n'));
        reject(mark(error, number));
    };
    if (!detached) node.call = {
        number,
        abort(reason) {
            if (node.settled) return;
            fail({ name: 'AbortError', message: `\`${path}\` was cancelled: ${reason}` });
            host.cancel(number);
        },
    };
    subscribe(host.call(number, path, text, locate(frames.join('\n')) ?? ''), (reply) => {
        if (node.settled) return;
        const { error, value } = JSON.parse(reply);
        if (error !== undefined) {
            fail(error);
            return;
        }
        end();
        resolve(freeze(value));
    }, (error) => {
        if (!node.settled) fail({ name: 'HarnessInternalError', message: String(error.message) });
    });
    return { promise, number };
};

const missing = (path) => {
    const [message, available] = JSON.parse(host.missing(path.toWellFormed()));
    return mark(named('ToolNotFoundError', message, { toolName: path, availableTools: available }), -1);
};

// Programs that outlive the script. The host makes up the same id.
const spawn = {
    exec(...args) {
        const { promise, number, error } = invoke('spawn.exec', args, true);
        // The host tells of a task that could not be started; nobody has to await it for that.
        subscribe(promise, undefined, () => {});
        if (error !== undefined) throw error;
        return Object.freeze({ id: `task_${context.scriptId}_${number}`, done: promise });
    },
    cancel: (...args) => invoke('spawn.cancel', args).promise,
};

// A name among the tools: a function, or names below it. They are properties of a frozen object, so that they can be
// listed and spread; whatever is not there is an error at once.
const branch = (path, names) => new Proxy(names, {
    get(target, key) {
        if (Object.hasOwn(target, key)) return target[key];
        if (typeof key === 'symbol' || PLAIN.has(key)) return undefined;
        throw missing(path === '' ? key : `${path}.${key}`);
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    setPrototypeOf: () => false,
});

const plant = (names, paths, above) => {
    for (const name of new Set(paths.map(([first]) => first))) {
        const here = above === '' ? name : `${above}.${name}`;
        const below = paths.filter(([first, ...rest]) => first === name && rest.length > 0).map(([, ...rest]) => rest);
        const leaf = above === 'spawn' && spawn[name] !== undefined
            ? spawn[name] : (...args) => invoke(here, args).promise;
        names[name] = below.length === 0
            ? Object.freeze(leaf) : branch(here, plant(Object.create(null), below, here));
    }
    return Object.freeze(names);
};

// Empty until a script is given its tools.
const exposed = Object.create(null);
const tools = branch('', exposed);

const emitProgress = (message, kind) => {
    host.progress(String(message).toWellFormed(), kind === 'warn' ? 'warn' : 'info');
};

// Gives the realm to one script.
const begin = (bridge, settings) => {
    const { context: given, tools: paths, limits: bounds } = JSON.parse(settings);
    host = bridge;
    limits = bounds;
    plant(exposed, paths.map((path) => path.split('.')), '');
    Object.assign(context, given);
    const { sandbox } = given;
    const { toolBudget, ...fixed } = sandbox;
    context.sandbox = Object.freeze({
        ...fixed,
        get remainingToolBudget() { return Math.max(0, toolBudget - counted); },
    });
    context.telemetry = { emitProgress };
    context.emitProgress = emitProgress;
    Object.freeze(emitProgress);
    freeze(context);
};

// Runs the script's body; the value is the JSON of what it returned.
const start = (body) => subscribe(body(), (value) => toJson(value, limits.returnDepth));

// 0 for an error of the script's own, 1 for one of the harness, and from 2 on the number of the call that failed.
const markOf = (error) => {
    const known = typeof error === 'object' && error !== null ? marks.get(error) : undefined;
    return known === undefined ? 0 : known + 2;
};
