// The same trivial run in engines that Node finds: a line each, name and microseconds.

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

const time = async (name, run, runs = 300) => {
    const times = [];
    for (let i = 0; i < runs; i++) {
        const began = process.hrtime.bigint();
        await run();
        times.push(Number(process.hrtime.bigint() - began) / 1e3);
    }
    console.log(`${name}\t${median(times)}`);
};

const peers = {
    vm: async (vm) => {
        await time('vm, fresh context (no isolation)', () => vm.runInNewContext('6 * 7'));
    },
    'quickjs-emscripten': async ({ getQuickJS }) => {
        const engine = await getQuickJS();
        await time('quickjs-emscripten, fresh runtime', () => {
            const runtime = engine.newRuntime();
            const context = runtime.newContext();
            const value = context.unwrapResult(context.evalCode('export default 6 * 7', 'm.js', { type: 'module' }));
            context.dump(value);
            value.dispose();
            context.dispose();
            runtime.dispose();
        });
    },
    'isolated-vm': async (ivm) => {
        await time('isolated-vm, fresh isolate', async () => {
            const isolate = new ivm.Isolate({ memoryLimit: 96 });
            const context = await isolate.createContext();
            await context.eval('6 * 7');
            isolate.dispose();
        }, 100);
    },
};

(async () => {
    for (const [name, run] of Object.entries(peers)) {
        try {
            await run(require(name));
        } catch (error) {
            console.error(`${name} takes no part: ${error.message.split('\n')[0]}`);
        }
    }
})();
