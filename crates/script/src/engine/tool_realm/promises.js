// Who waits for what. Every promise that a tool call could settle is a node; an edge leads from a promise to
// what goes on when it settles. Async functions arrive here as generators, so an `await` is seen like a `then`.
//
// When a race is decided, a call is cancelled if every way onward from it leads into that race alone.

const nativeThen = Promise.prototype.then;
const nodes = new WeakMap();
// Set while one of our own combinators subscribes to its inputs; those edges are drawn by hand.
let quiet = false;

const isPromise = (value) => typeof value === 'object' && value !== null && value instanceof Promise;
const makeNode = () => ({ call: undefined, settled: false, passive: false, sources: new Set(), sinks: new Set() });

const nodeOf = (promise) => {
    let node = nodes.get(promise);
    if (node === undefined) {
        node = makeNode();
        nodes.set(promise, node);
    }
    return node;
};

const link = (source, sink) => {
    source.sinks.add(sink);
    sink.sources.add(source);
};

const unlink = (source, sink) => {
    source.sinks.delete(sink);
    sink.sources.delete(source);
};

const toPromise = (value) => {
    const promise = Promise.resolve(value);
    if (promise !== value && isPromise(value)) link(nodeOf(value), nodeOf(promise));
    return promise;
};

const subscribe = (promise, fulfilled, rejected) => Reflect.apply(nativeThen, promise, [fulfilled, rejected]);

// A promise of ours, and the way to resolve it. What it is resolved with becomes a source of it; the engine would
// subscribe to that through `then`, as if the script had.
const deferred = () => {
    const { promise, resolve, reject } = Promise.withResolvers();
    const node = nodeOf(promise);
    const resolveWith = (value) => {
        if (!isPromise(value) || value === promise) {
            node.settled = true;
            resolve(value);
            return;
        }
        link(nodeOf(value), node);
        subscribe(value, resolve, reject);
    };
    const rejectWith = (error) => {
        node.settled = true;
        reject(error);
    };
    return { promise, node, resolve: resolveWith, reject: rejectWith };
};

const methods = {
    then(fulfilled, rejected) {
        if (quiet || !isPromise(this) || this.constructor !== Promise) return subscribe(this, fulfilled, rejected);
        const source = nodeOf(this);
        const { promise, node, resolve, reject } = deferred();
        // Whoever only looks at failures does not wait for the result.
        node.passive = typeof fulfilled !== 'function';
        const watched = (handler, otherwise) => (value) => {
            unlink(source, node);
            if (typeof handler !== 'function') {
                otherwise(value);
                return;
            }
            let result;
            try {
                result = handler(value);
            } catch (error) {
                reject(error);
                return;
            }
            resolve(result);
        };
        link(source, node);
        subscribe(this, watched(fulfilled, resolve), watched(rejected, reject));
        return promise;
    },
    finally(handler) {
        if (typeof handler !== 'function') return this.then(handler, handler);
        const derived = this.then(
            (value) => toPromise(handler()).then(() => value),
            (error) => toPromise(handler()).then(() => { throw error; }),
        );
        nodeOf(derived).passive = true;
        return derived;
    },
};

const combinator = (name, decided) => {
    const native = Promise[name];
    return {
        [name](iterable) {
            if (this !== Promise) return Reflect.apply(native, this, [iterable]);
            let inputs;
            try {
                inputs = [...iterable].map(toPromise);
            } catch (error) {
                return Promise.reject(error);
            }
            quiet = true;
            let result;
            try {
                result = Reflect.apply(native, this, [inputs]);
            } finally {
                quiet = false;
            }
            const sink = nodeOf(result);
            for (const input of inputs) link(nodeOf(input), sink);
            const end = () => {
                sink.settled = true;
                decided(sink);
            };
            // First in line, so that losers are gone before the script goes on.
            subscribe(result, end, end);
            return result;
        },
    }[name];
};

const cancelLosers = (race) => {
    const upstream = new Set();
    const ahead = [...race.sources];
    while (ahead.length > 0) {
        const node = ahead.pop();
        if (upstream.has(node)) continue;
        upstream.add(node);
        ahead.push(...node.sources);
    }
    const known = new Map();
    const onlyForTheRace = (node) => {
        if (known.has(node)) return known.get(node);
        known.set(node, true);
        for (const sink of node.sinks) {
            const dead = sink === race || sink.settled || (!upstream.has(sink) && sink.passive && sink.sinks.size === 0);
            if (dead || (upstream.has(sink) && onlyForTheRace(sink))) continue;
            known.set(node, false);
            return false;
        }
        return true;
    };
    const lost = [...upstream].filter((node) => node.call !== undefined && !node.settled && onlyForTheRace(node));
    lost.sort((a, b) => a.call.number - b.call.number);
    for (const node of lost) {
        node.call.abort('it lost a Promise.race or Promise.any, and nothing else was waiting for it');
    }
};

// Runs a generator as the async function that it was written as.
const drive = (generator) => {
    const { promise, node: sink, resolve, reject } = deferred();
    let waiting;
    const step = (method, value) => {
        if (waiting !== undefined) unlink(waiting, sink);
        waiting = undefined;
        let next;
        try {
            next = generator[method](value);
        } catch (error) {
            reject(error);
            return;
        }
        if (next.done) {
            resolve(next.value);
            return;
        }
        const awaited = toPromise(next.value);
        waiting = nodeOf(awaited);
        link(waiting, sink);
        subscribe(awaited, (result) => step('next', result), (error) => step('throw', error));
    };
    step('next');
    return promise;
};

// What an async generator yields to its driver when it awaits, or passes on what another one yields.
class Paused {
    constructor(value, delegated) {
        this.value = value;
        this.delegated = delegated;
    }
}

const AsyncGeneratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);

// Runs a generator as the async generator that it was written as: one request at a time, in order.
class DrivenGenerator {
    #generator;
    #requests = [];

    constructor(generator) {
        this.#generator = generator;
    }

    #ask(method, value) {
        const request = { method, value, ...Promise.withResolvers() };
        this.#requests.push(request);
        if (this.#requests.length === 1) this.#resume(method, value);
        return request.promise;
    }

    #resume(method, value) {
        let next;
        try {
            next = this.#generator[method](value);
        } catch (error) {
            this.#answer((request) => request.reject(error));
            return;
        }
        const paused = next.value instanceof Paused ? next.value : undefined;
        const sink = nodeOf(this.#requests[0].promise);
        const awaited = toPromise(paused === undefined ? next.value : paused.value);
        const source = nodeOf(awaited);
        link(source, sink);
        subscribe(awaited, (result) => {
            unlink(source, sink);
            this.#awaited(method, next.done, paused, result);
        }, (error) => {
            unlink(source, sink);
            this.#resume('throw', error);
        });
    }

    #awaited(method, done, paused, result) {
        if (paused === undefined) {
            this.#answer((request) => request.resolve({ value: result, done }));
            return;
        }
        const onward = method === 'return' && paused.delegated ? method : 'next';
        if (!paused.delegated || result.done) {
            this.#resume(onward, result);
            return;
        }
        const { value } = this.#generator[onward](result);
        this.#answer((request) => request.resolve({ value, done: false }));
    }

    #answer(settle) {
        settle(this.#requests.shift());
        if (this.#requests.length > 0) this.#resume(this.#requests[0].method, this.#requests[0].value);
    }

    next(value) {
        return this.#ask('next', value);
    }

    throw(error) {
        return this.#ask('throw', error);
    }

    return(value) {
        return this.#ask('return', value);
    }
}
Object.setPrototypeOf(DrivenGenerator.prototype, AsyncGeneratorPrototype);

const asyncIterator = (iterable) => {
    const method = iterable[Symbol.asyncIterator];
    if (method !== undefined && method !== null) return Reflect.apply(method, iterable, []);
    const iterator = iterable[Symbol.iterator]();
    const awaited = (result) => toPromise(result.value).then((value) => ({ value, done: result.done }));
    return {
        next: (value) => awaited(iterator.next(value)),
        return: (value) => iterator.return === undefined
            ? Promise.resolve({ value, done: true }) : awaited(iterator.return(value)),
    };
};

// `yield*` in an async generator: each result is first awaited by the driver and then given back.
const delegate = (inner) => {
    let given = false;
    const pass = (method) => (value) => {
        if (given) {
            given = false;
            if (method === 'throw') throw value;
            return value;
        }
        given = true;
        return { done: false, value: new Paused(new Promise((resolve) => resolve(inner[method](value))), true) };
    };
    const outer = { [Symbol.iterator]: () => outer, next: pass('next') };
    for (const method of ['throw', 'return']) {
        if (typeof inner[method] === 'function') outer[method] = pass(method);
    }
    return outer;
};

// The names that the transformer calls.
const helpers = {
    asyncToGenerator: (body) => function (...args) {
        let generator;
        try {
            generator = Reflect.apply(body, this, args);
        } catch (error) {
            return Promise.reject(error);
        }
        return drive(generator);
    },
    wrapAsyncGenerator: (body) => function (...args) {
        return new DrivenGenerator(Reflect.apply(body, this, args));
    },
    awaitAsyncGenerator: (value) => new Paused(value, false),
    asyncGeneratorDelegate: delegate,
    asyncIterator,
    decorate(decorators, target, key, description) {
        const count = arguments.length;
        let result = count < 3 ? target : description === null
            ? (description = Object.getOwnPropertyDescriptor(target, key)) : description;
        for (const decorator of [...decorators].reverse()) {
            if (!decorator) continue;
            const made = count < 3 ? decorator(result)
                : count > 3 ? decorator(target, key, result) : decorator(target, key);
            result = made || result;
        }
        if (count > 3 && result) Object.defineProperty(target, key, result);
        return result;
    },
    decorateParam: (index, decorator) => (target, key) => decorator(target, key, index),
    decorateMetadata: () => undefined,
};

const hide = (object, name, value) => Object.defineProperty(object, name, {
    value, writable: true, enumerable: false, configurable: true,
});
hide(Promise.prototype, 'then', methods.then);
hide(Promise.prototype, 'finally', methods.finally);
for (const name of ['all', 'allSettled']) hide(Promise, name, combinator(name, () => {}));
for (const name of ['race', 'any']) hide(Promise, name, combinator(name, cancelLosers));
