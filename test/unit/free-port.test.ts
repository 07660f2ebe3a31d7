// Ports that test processes choose: two that begin their search at the same one.
import assert from 'node:assert/strict';
import { it } from 'node:test';

/** As a process of its own has it. */
const load = async (name: string) =>
  (await import(`../support/free-port.ts?${name}`)) as { freePort(): Promise<number> };

it('gives none that fetch refuses, where a process would begin with it', async (t) => {
  const pid = Object.getOwnPropertyDescriptor(process, 'pid') ?? {};
  Object.defineProperty(process, 'pid', { ...pid, value: 4 });
  t.after(() => Object.defineProperty(process, 'pid', pid));
  const { freePort } = await load('four');

  const ports = [await freePort(), await freePort(), await freePort()];

  assert.ok(!ports.includes(10_080), String(ports));
});

it('gives a port to one process, though nobody listens on it yet', { skip: process.platform !== 'linux' }, async () => {
  const [one, another] = [await load('one'), await load('another')];

  const ports: number[] = [];
  for (let n = 0; n < 15; n += 1) for (const searcher of [one, another]) ports.push(await searcher.freePort());

  assert.equal(new Set(ports).size, ports.length);
});
