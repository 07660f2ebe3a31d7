// Ports that test processes choose: two that begin their search at the same one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { portSearch } from '../../support/free-port.ts';

it('gives none that fetch refuses, where a process would begin with it', async () => {
  const search = portSearch(4);

  const ports = [await search(), await search(), await search()];

  assert.ok(!ports.includes(10_080), String(ports));
});

it('gives a port to one process, though nobody listens on it yet', { skip: process.platform !== 'linux' }, async () => {
  const searches = [portSearch(process.pid), portSearch(process.pid)];

  const ports: number[] = [];
  for (let n = 0; n < 15; n += 1) for (const search of searches) ports.push(await search());

  assert.equal(new Set(ports).size, ports.length);
});
