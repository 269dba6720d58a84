// What transformed code calls beside the driver, and the names under which it calls all of it.

// `using` and `await using`: what a block has taken into use, given back in the opposite order when it ends.
const usingCtx = () => {
    const nothing = {};
    const taken = [];
    const take = (waits, value) => {
        if (value === null || value === undefined) {
            if (waits) taken.push({ waits });
            return value;
        }
        if (Object(value) !== value) throw new TypeError('`using` takes an object, null or undefined');
        let dispose = waits ? value[Symbol.asyncDispose] : undefined;
        if (dispose === undefined || dispose === null) {
            const inner = value[Symbol.dispose];
            dispose = !waits || typeof inner !== 'function' ? inner : function () {
                try {
                    Reflect.apply(inner, this, []);
                    return undefined;
                } catch (error) {
                    return Promise.reject(error);
                }
            };
        }
        if (typeof dispose !== 'function') {
            throw new TypeError(`the object has no ${waits ? '[Symbol.asyncDispose]() or ' : ''}[Symbol.dispose]() method`);
        }
        taken.push({ value, dispose, waits });
        return value;
    };
    return {
        e: nothing,
        u: (value) => take(false, value),
        a: (value) => take(true, value),
        d() {
            let error = this.e;
            let owesWait = false;
            const failed = (thrown) => {
                error = error === nothing ? thrown : new SuppressedError(thrown, error);
                return next();
            };
            const next = () => {
                while (taken.length > 0) {
                    const { value, dispose, waits } = taken.pop();
                    try {
                        if (!waits && owesWait) {
                            owesWait = false;
                            taken.push({ value, dispose, waits });
                            return Promise.resolve().then(next);
                        }
                        if (dispose === undefined) {
                            owesWait = true;
                        } else {
                            const result = Reflect.apply(dispose, value, []);
                            if (waits) return toPromise(result).then(next, failed);
                        }
                    } catch (thrown) {
                        return failed(thrown);
                    }
                }
                if (error !== nothing) throw error;
                return undefined;
            };
            return next();
        },
    };
};

// The names that the transformer calls.
const helpers = {
    asyncToGenerator: (body) => function (...args) {
        let generator;
        try {
            generator = Reflect.apply(body, this, args);
        } catch (error) {
            return Promise.reject(caught(error));
        }
        return drive(generator);
    },
    wrapAsyncGenerator: (body) => function (...args) {
        return new DrivenGenerator(Reflect.apply(body, this, args));
    },
    awaitAsyncGenerator: (value) => new Paused(value, false),
    asyncGeneratorDelegate: delegate,
    asyncIterator,
    usingCtx,
    // Of the engine: what the script throws goes through the one, what it catches through the other.
    thrown,
    caught,
};

