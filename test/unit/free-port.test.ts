// Ports that test processes choose: two that begin their search at the same one.
import assert from 'node:assert/strict';
import { it } from 'node:test';

it('gives a port to one process, though nobody listens on it yet', { skip: process.platform !== 'linux' }, async () => {
  const load = async (name: string) =>
    (await import(`../support/free-port.ts?${name}`)) as { freePort(): Promise<number> };
  const [one, another] = [await load('one'), await load('another')];

  const ports: number[] = [];
  for (let n = 0; n < 15; n += 1) for (const searcher of [one, another]) ports.push(await searcher.freePort());

  assert.equal(new Set(ports).size, ports.length);
});
