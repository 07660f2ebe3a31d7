// 'svc/testing': a bot in memory with a manual clock, a fake platform and kill points; and the bench and suite of adapters.
export { adapterBench, type Bench } from './adapter-bench.ts';
export { adapterContract, type Fixtures } from './adapter-contract.ts';
export { everyCrash } from './every-crash.ts';
export { loopback, type TestOwner } from './loopback.ts';
export { type Person, type TestBot, type TestBotOptions, testBot } from './test-bot.ts';
