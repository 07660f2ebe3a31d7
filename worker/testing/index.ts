// 'svc/testing': a bot in memory with a manual clock, a fake platform and kill points. Also the bench and test suite of adapters, and a real host
// in a process of its own.
export {
  adapterBench,
  type Bench,
  type BenchOptions,
  type Committed,
  type Connection,
} from './adapter-suite/adapter-bench.ts';
export { adapterContract } from './adapter-suite/adapter-contract.ts';
export type { Fixtures } from './adapter-suite/fixtures.ts';
export { everyCrash } from './every-crash.ts';
export { type HostOptions, type HostRequest, startHost, type TestHost } from './host.ts';
export { loopback, type TestOwner } from './loopback.ts';
export {
  type Person,
  type ShownMessage,
  type TestBot,
  type TestBotOptions,
  type TestWorkroom,
  testBot,
} from './test-bot.ts';
