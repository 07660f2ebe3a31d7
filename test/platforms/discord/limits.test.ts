// Requests that Discord refuses: it shuts out an address that makes 10,000 of them in 10 minutes. In a file of its own, because the client counts
// them for the whole process: another client of it makes most of them here, for the account's own keeps to 50 a second.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { REST } from '@discordjs/rest';
import { Routes } from 'discord-api-types/v10';
import { discordBench } from '../../support/accounts/discord-bench.ts';

const REFUSED = 8_000;
const CLOSED = '645027906669511000';

it('asks for nothing more once 8,000 requests were refused in ten minutes', { timeout: 590_000 }, async (t) => {
  const { platform, send } = await discordBench(t);
  platform.world.addChannel(CLOSED, { isClosed: true });
  const rest = new REST({ api: platform.apiUrl, retries: 0, globalRequestsPerSecond: 1_000_000 }).setToken(
    platform.token,
  );

  for (let n = 1; n < REFUSED; n += 1) await rest.post(Routes.channelTyping(CLOSED)).catch(() => {});
  const before = await send({ kind: 'typing', conversation: CLOSED });
  const asked = platform.calls.length;
  const result = await send({ kind: 'typing' });

  assert.equal(before.kind, 'refused');
  assert.equal(asked, REFUSED);
  assert.ok(result.kind === 'later' && result.afterMs > 0 && result.afterMs <= 600_000, JSON.stringify(result));
  assert.equal(result.account, true);
  assert.equal(platform.calls.length, asked);
});
