// The stories of the samples on the real host: every line is acknowledged, then the host gets SIGKILL and starts again.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { transformSync } from 'esbuild';
import { type RunningHost, runningHost } from '../support/running-host.ts';
import { until } from '../support/until.ts';

interface Message {
  readonly from: string;
  readonly text: string;
  readonly id: string;
  readonly buttons: readonly { readonly label: string; readonly token: string }[];
}

/** The sample as a project has it after its build. */
const compiled = (name: string): string =>
  transformSync(readFileSync(new URL(`../samples/${name}.ts`, import.meta.url), 'utf8'), {
    loader: 'ts',
    format: 'esm',
  }).code;

async function sampleHost(
  t: TestContext,
  name: string,
  keys: Readonly<Record<string, unknown>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<RunningHost> {
  return runningHost(t, {
    plugins: { sandbox: {}, [name]: { use: `./plugins/${name}.mjs`, ...keys } },
    sources: { [`${name}.mjs`]: compiled(name) },
    env,
  });
}

async function post(host: RunningHost, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json' };
  const answer = await fetch(host.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, await answer.text());
}

const say = (host: RunningHost, text: string): Promise<void> =>
  post(host, 'api/chat/say', { person: 'ann', text, delivery: randomBytes(6).toString('hex') });

async function shown(host: RunningHost): Promise<readonly Message[]> {
  const { messages } = (await host.get('api/chat/messages?person=ann&after=0')) as { messages: readonly Message[] };
  return messages.filter(({ from }) => from === 'svc');
}

/** The host is killed as soon as it has acknowledged; what it owes comes from the one that starts after it. */
async function killed(host: RunningHost): Promise<void> {
  await host.stop('SIGKILL');
  await host.start();
}

async function shows(host: RunningHost, count: number): Promise<readonly string[]> {
  await until(async () => (await shown(host)).length >= count, { what: `${count} messages`, timeoutMs: 120_000 });
  return (await shown(host)).map(({ text }) => text);
}

describe('the samples on the real host, killed after every acknowledgement', () => {
  it('order asks for what is missing and goes on with what it knows', async (t) => {
    const host = await sampleHost(t, 'order');
    const lines = ['/order', 'large', '12 High Street', 'yes'];

    for (const [index, line] of lines.entries()) {
      await say(host, line);
      await killed(host);
      await shows(host, index + 1);
    }

    assert.deepEqual(await shows(host, 4), [
      'Which size?',
      'Where to?',
      'As a gift?',
      'A large one goes to 12 High Street, as a gift.',
    ]);
  });

  it('remind reminds once', async (t) => {
    const host = await sampleHost(t, 'remind');

    await say(host, 'remind me in 2s to drink tea');
    await killed(host);
    await shows(host, 1);
    await killed(host);

    assert.deepEqual(await shows(host, 2), ['I will remind you in 2s.', '@ann reminder: drink tea']);
  });

  it('poll counts one vote a person, by edits', async (t) => {
    const host = await sampleHost(t, 'poll');
    await say(host, '/poll "Lunch?" pizza sushi');
    await killed(host);

    for (const label of ['pizza', 'sushi']) {
      await shows(host, 1);
      const [message] = await shown(host);
      const button = message?.buttons.find((one) => one.label.startsWith(label));
      assert.ok(message !== undefined && button !== undefined, `a button ${label}`);
      await post(host, 'api/chat/press', {
        person: 'ann',
        message: message.id,
        token: button.token,
        delivery: randomBytes(6).toString('hex'),
      });
      await killed(host);
      await until(async () => (await shown(host))[0]?.text.includes('1 votes') === true, {
        what: 'the vote',
        timeoutMs: 120_000,
      });
    }

    assert.deepEqual(await shows(host, 1), ['**Lunch?** (1 votes)']);
  });

  it('ticket is opened once', async (t) => {
    const tickets = new Map<string, number>();
    const tracker = createServer((request: IncomingMessage, response) => {
      const key = String(request.headers['idempotency-key']);
      tickets.set(key, tickets.get(key) ?? tickets.size + 1);
      request.resume();
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ number: tickets.get(key) }));
    }).listen(0, '127.0.0.1');
    t.after(() => {
      tracker.close();
      tracker.closeAllConnections();
    });
    await until(() => tracker.listening, { what: 'the tracker' });
    const url = `http://127.0.0.1:${(tracker.address() as AddressInfo).port}`;
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    const host = await sampleHost(
      t,
      'ticket',
      { url, token: '${TICKET_TOKEN}' },
      { TICKET_TOKEN: 'abcdefabcdefabcdef' },
    );

    await say(host, '/ticket The door is stuck');
    await killed(host);

    assert.deepEqual([await shows(host, 1), tickets.size], [['Ticket 1 is open.'], 1]);
  });
});
