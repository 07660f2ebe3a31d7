// The stories of the samples on the real host: every line is acknowledged, then the host gets SIGKILL and starts again.
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { transformSync } from 'esbuild';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

interface Message {
  readonly from: string;
  readonly text: string;
  readonly id: string;
  readonly buttons: readonly { readonly label: string; readonly token: string }[];
}

/** The sample as a project has it after its build. */
const compiled = (name: string): string =>
  transformSync(readFileSync(new URL(`../../contract/samples/${name}.ts`, import.meta.url), 'utf8'), {
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

/** A service of somebody else; gives its address. */
async function service(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await until(() => server.listening, { what: 'the service' });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sign = (text: string, secret: string): string => createHmac('sha256', secret).update(text).digest('hex');

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
  await until(async () => (await shown(host)).length >= count, { what: `${count} messages` });
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
      });
    }

    assert.deepEqual(await shows(host, 1), ['**Lunch?** (1 votes)']);
  });

  it('ticket is opened once', async (t) => {
    const tickets = new Map<string, number>();
    const url = await service(t, (request: IncomingMessage, response) => {
      const key = String(request.headers['idempotency-key']);
      tickets.set(key, tickets.get(key) ?? tickets.size + 1);
      request.resume();
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ number: tickets.get(key) }));
    });
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

  it('echo says it back', async (t) => {
    const host = await sampleHost(t, 'echo');

    await say(host, '/echo hello');
    await killed(host);

    assert.deepEqual(await shows(host, 1), ['hello']);
  });

  it('github-notify tells each delivery once, and refuses a wrong signature', async (t) => {
    const secret = 'a secret of the hook';
    const keys = { secret: '${NOTIFY_SECRET}', to: { endpoint: 'sandbox', id: 'dm-ann' } };
    const host = await sampleHost(t, 'github-notify', keys, { NOTIFY_SECRET: secret });
    const body = JSON.stringify({
      action: 'opened',
      sender: { login: 'ann' },
      repository: { full_name: 'a/b' },
      issue: { number: 7, title: 'Door', html_url: 'https://example.org/7' },
    });
    const deliver = async (id: string, key = secret): Promise<number> => {
      const headers = {
        'content-type': 'application/json',
        'x-github-event': 'issues',
        'x-github-delivery': id,
        'x-hub-signature-256': `sha256=${sign(body, key)}`,
      };
      return (await fetch(`${host.url}webhooks/github-notify/issues`, { method: 'POST', headers, body })).status;
    };
    const statuses: number[] = [];
    for (const [id, key] of [['1', 'wrong'], ['1'], ['1'], ['2']] as const) {
      statuses.push(await deliver(id, key));
      await killed(host);
    }

    const told = '**a/b** #7 opened by ann: [Door](https://example.org/7)';
    assert.deepEqual(statuses, [401, 202, 202, 202]);
    assert.deepEqual(await shows(host, 2), [told, told]);
  });

  it('pigeon catches up, takes what is delivered, and answers each message once', async (t) => {
    const eventOf = (n: number): object => {
      const from = { id: `u${n}`, name: `u${n}`, me: n === 2 };
      return {
        id: `e${n}`,
        type: 'message',
        room: { id: 'r', kind: 'private' },
        message: `m${n}`,
        at: n,
        from,
        text: `/echo ${n}`,
      };
    };
    const posted = new Map<string, string>();
    const url = await service(t, (request, response) => {
      const after = Number(new URL(request.url ?? '', 'http://pigeon').searchParams.get('after'));
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        response.setHeader('content-type', 'application/json');
        if (request.method === 'GET') {
          const events = [1, 2, 3].slice(after, after + 2).map(eventOf);
          return response.end(JSON.stringify({ events, cursor: `${Math.min(after + 2, 3)}` }));
        }
        const { client_id: key, text } = JSON.parse(body) as { readonly client_id: string; readonly text: string };
        posted.set(key, text);
        response.writeHead(201).end(JSON.stringify({ id: `p-${key}` }));
      });
    });
    const account = { url, token: '${PIGEON_TOKEN}', signing: '${PIGEON_SIGNING}' };
    const host = await runningHost(t, {
      plugins: { echo: {}, pigeon: { use: './plugins/pigeon.mjs', endpoints: [{ id: 'a', ...account }] } },
      sources: { 'pigeon.mjs': compiled('pigeon') },
      env: { PIGEON_TOKEN: 'a token of pigeon', PIGEON_SIGNING: 'a signing key' },
    });
    const deliver = async (n: number): Promise<number> => {
      const body = JSON.stringify({ events: [eventOf(n)], cursor: '' });
      const at = Math.floor(Date.now() / 1_000);
      const headers = { 'pigeon-signature': `t=${at},v1=${sign(`${at}.${body}`, 'a signing key')}` };
      return (await fetch(`${host.url}webhooks/pigeon/a`, { method: 'POST', headers, body })).status;
    };
    const statuses: number[] = [];
    for (const n of [4, 4, 5]) {
      await until(async () => (await deliver(n)) === 200 && statuses.push(200), { what: 'the acknowledgement' });
      await killed(host);
    }
    await until(() => posted.size >= 4, { what: 'the answers' });
    await killed(host);
    await until(async () => ((await host.get('api/outbox?state=sent&limit=1')) as { total: number }).total === 4, {
      what: 'all to be sent',
    });

    assert.equal(statuses.length, 3);
    assert.deepEqual([...posted.values()].toSorted(), ['1', '3', '4', '5']);
  });
});
