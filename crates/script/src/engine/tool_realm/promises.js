// Who waits for what. Every promise that a tool call could settle is a node; an edge leads from a promise to
// what goes on when it settles. Async functions arrive here as generators, so an `await` is seen like a `then`.
//
// When a race is decided, a call is cancelled if every way onward from it leads into that race alone.

const nativeThen = Promise.prototype.then;
const nativeFinally = Promise.prototype.finally;
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
                result = handler(handler === rejected ? caught(value) : value);
            } catch (error) {
                reject(caught(error));
                return;
            }
            resolve(result);
        };
        link(source, node);
        subscribe(this, watched(fulfilled, resolve), watched(rejected, reject));
        return promise;
    },
    finally(handler) {
        if (!isPromise(this) || this.constructor !== Promise) return Reflect.apply(nativeFinally, this, [handler]);
        if (typeof handler !== 'function') return this.then(handler, handler);
        const derived = this.then(
            (value) => toPromise(handler()).then(() => value),
            (error) => toPromise(handler()).then(() => { throw error; }),
        );
        nodeOf(derived).passive = true;
        return derived;
    },
};

// Lets the engine iterate, so that iterators are asked and closed as it does it, and notes the promises that it is given.
const noted = (iterable, inputs) => ({
    [Symbol.iterator]() {
        const aloud = (method, iterator, args) => {
            quiet = false;
            try {
                return Reflect.apply(method, iterator, args);
            } finally {
                quiet = true;
            }
        };
        const iterator = aloud(iterable[Symbol.iterator], iterable, []);
        if (Object(iterator) !== iterator) throw new TypeError('not an object');
        const next = iterator.next;
        return {
            next() {
                const step = aloud(next, iterator, []);
                if (Object(step) !== step || step.done) return step;
                const promise = toPromise(step.value);
                inputs.push(promise);
                return { done: false, value: promise };
            },
            get return() {
                const method = iterator.return;
                return typeof method === 'function' ? () => aloud(method, iterator, []) : method;
            },
        };
    },
});

const combinator = (name, decided) => {
    const native = Promise[name];
    return {
        [name](iterable) {
            if (this !== Promise) return Reflect.apply(native, this, [iterable]);
            const inputs = [];
            quiet = true;
            let result;
            try {
                result = Reflect.apply(native, this, [noted(iterable, inputs)]);
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

const hide = (object, name, value) => Object.defineProperty(object, name, {
    value, writable: true, enumerable: false, configurable: true,
});
hide(Promise.prototype, 'then', methods.then);
hide(Promise.prototype, 'finally', methods.finally);
for (const name of ['all', 'allSettled']) hide(Promise, name, combinator(name, () => {}));
for (const name of ['race', 'any']) hide(Promise, name, combinator(name, cancelLosers));
