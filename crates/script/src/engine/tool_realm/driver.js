// Async functions and async generators, which arrive here as generators: whoever drives them sees every `await`.

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
            reject(caught(error));
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
            this.#answer((request) => request.reject(caught(error)));
            return;
        }
        const paused = next.value instanceof Paused ? next.value : undefined;
        const sink = nodeOf(this.#requests[0].promise);
        let awaited;
        try {
            awaited = toPromise(paused === undefined ? next.value : paused.value);
        } catch (error) {
            this.#resume('throw', error);
            return;
        }
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
Object.defineProperty(DrivenGenerator.prototype, Symbol.toStringTag, { value: 'AsyncGenerator', configurable: true });

const close = (iterator) => {
    try {
        iterator.return?.();
    } catch {
        // What was thrown before counts.
    }
};

// An iterator as one whose results are awaited. What goes wrong is a rejection.
const fromSync = (iterator) => {
    const next = iterator.next;
    const answer = (closes, step) => {
        if (Object(step) !== step) throw new TypeError('the iterator gave no object');
        const { done, value } = { done: Boolean(step.done), value: step.value };
        const failed = (error) => {
            if (closes && !done) close(iterator);
            throw error;
        };
        let awaited;
        try {
            awaited = toPromise(value);
        } catch (error) {
            failed(error);
        }
        return awaited.then((result) => ({ value: result, done }), failed);
    };
    const attempt = (ask) => (...args) => {
        try {
            return ask(args);
        } catch (error) {
            return Promise.reject(caught(error));
        }
    };
    return {
        next: attempt((args) => answer(true, Reflect.apply(next, iterator, args))),
        return: attempt((args) => {
            const method = iterator.return;
            if (method === undefined || method === null) return Promise.resolve({ value: args[0], done: true });
            return answer(false, Reflect.apply(method, iterator, args));
        }),
        throw: attempt((args) => {
            const method = iterator.throw;
            if (method !== undefined && method !== null) return answer(true, Reflect.apply(method, iterator, args));
            close(iterator);
            throw new TypeError('the iterator has no throw method');
        }),
    };
};

const asyncIterator = (iterable) => {
    const method = iterable[Symbol.asyncIterator];
    if (method !== undefined && method !== null) return Reflect.apply(method, iterable, []);
    return fromSync(iterable[Symbol.iterator]());
};

// `yield*` in an async generator: each result is first awaited by the driver and then given back. What the driver gives
// back never reaches the inner iterator.
const delegate = (inner) => {
    let given = false;
    const ask = {
        next: (value) => inner.next(value),
        return: (value) => inner.return(value),
        throw(value) {
            const method = inner.throw;
            if (method !== undefined && method !== null) return Reflect.apply(method, inner, [value]);
            close(inner);
            throw new TypeError('the iterator has no throw method');
        },
    };
    const pass = (method) => (value) => {
        if (given) {
            given = false;
            if (method === 'throw') throw value;
            return value;
        }
        given = true;
        return { done: false, value: new Paused(new Promise((resolve) => resolve(ask[method](value))), true) };
    };
    return {
        [Symbol.iterator]() {
            return this;
        },
        next: pass('next'),
        throw: pass('throw'),
        get return() {
            if (given) return pass('return');
            const method = inner.return;
            return method === undefined || method === null ? undefined : pass('return');
        },
    };
};

