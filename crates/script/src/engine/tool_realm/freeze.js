// Makes everything that scripts share immutable. An assignment to an instance that would only be refused because its
// prototype is frozen (`this.name = …` in a class of errors) is let through.

const OVERRIDABLE = ['constructor', 'toString', 'toJSON', 'valueOf', 'name', 'message'];

const letOverride = (prototype, key) => {
    const found = Object.getOwnPropertyDescriptor(prototype, key);
    if (found === undefined || !('value' in found) || !found.configurable) return;
    const { value, enumerable } = found;
    Object.defineProperty(prototype, key, {
        get() {
            return value;
        },
        set(given) {
            if (this === prototype || (typeof this !== 'object' && typeof this !== 'function') || this === null) {
                throw new TypeError(`'${String(key)}' is read-only`);
            }
            const own = Object.getOwnPropertyDescriptor(this, key);
            const as = own === undefined ? { writable: true, enumerable: true, configurable: true } : {};
            Object.defineProperty(this, key, { value: given, ...as });
        },
        enumerable,
        configurable: false,
    });
};

const walk = (roots, visit) => {
    const seen = new Set();
    const ahead = [...roots];
    while (ahead.length > 0) {
        const object = ahead.pop();
        if ((typeof object !== 'object' && typeof object !== 'function') || object === null || seen.has(object)) continue;
        seen.add(object);
        ahead.push(Object.getPrototypeOf(object));
        for (const key of Reflect.ownKeys(object)) {
            const found = Object.getOwnPropertyDescriptor(object, key);
            ahead.push(found.value, found.get, found.set);
        }
    }
    seen.forEach(visit);
};

// Intrinsics that no property of the global object leads to.
const hiddenIntrinsics = () => [
    function* () {}, async function () {}, async function* () {},
    (function* () {})(), (async function* () {})(),
    [][Symbol.iterator](), new Map().entries(), new Set().values(), ''[Symbol.iterator](), 'a'.matchAll(/a/g),
    [].values().map((x) => x), Iterator.from({ next() {} }),
];

const harden = (...more) => {
    const roots = [globalThis, ...hiddenIntrinsics(), ...more];
    delete globalThis.Function;
    walk(roots, (object) => {
        const isPrototype = Object.hasOwn(object, 'constructor');
        if (object === Object.prototype) Reflect.ownKeys(object).forEach((key) => letOverride(object, key));
        else if (isPrototype) OVERRIDABLE.forEach((key) => letOverride(object, key));
    });
    walk(roots, (object) => Object.freeze(object));
};
