// Plugins that fail in every way: one that throws, one that leaves a rejection behind, one that kills the process each time it is given the
// message. The others are served, and what cannot be handled ends as a dead letter after as many starts as configured.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultyHost } from '../../support/hosts/faulty-host.ts';
import { svc } from '../../support/svc-command.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const TIMEOUT = { timeout: 300_000 };
const ATTEMPTS = 3;
const TROUBLE = `import { definePlugin } from 'svc';

export default definePlugin({
  name: 'trouble',
  setup(p) {
    p.command('throw', { summary: 'Throws', attempts: 1 }, () => {
      throw new Error('a detail that nobody may see');
    });
    p.command('stray', { summary: 'Leaves a rejection behind' }, async () => {
      void Promise.reject(new Error('stray'));
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      return 'never said';
    });
    p.command('kill', { summary: 'Ends the process' }, () => {
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    });
    const fail = () => {
      throw new Error('a detail that nobody may see');
    };
    p.route('GET /broken', { scope: 'full' }, fail);
    p.route('POST /days', { scope: 'full', body: { type: 'object', properties: { days: { type: 'number' } } } }, () => ({}));
    const body = { type: 'object', properties: {} };
    const ok = { body, verify: () => ({ kind: 'ok' }), delivery: () => undefined };
    p.webhook('verify', { ...ok, verify: fail }, () => {});
    p.webhook('nothing', { ...ok, verify: () => undefined }, () => {});
    p.webhook('handshake', { ...ok, verify: () => ({ kind: 'handshake', answer: { text: 5 } }) }, () => {});
    p.webhook('accept', { ...ok, accept: fail }, () => {});
    p.webhook('delivery', { ...ok, delivery: fail }, () => {});
    p.webhook('late-accept', { ...ok, accept: async () => false }, () => {});
    p.webhook('late-delivery', { ...ok, delivery: async () => 'id' }, () => {});
    p.webhook('lane', { ...ok, lane: fail }, () => {});
    p.webhook('fine', ok, () => {});
    p.webhook('other', { ...ok, accept: () => false }, () => {});
    p.gauge('own_sync', 'Throws', fail);
    p.gauge('own_async', 'Rejects', async () => fail());
    p.signal.addEventListener('abort', fail);
    p.resource('store', async () => ({}), fail);
  },
});
`;

/** An account whose platform also delivers what is nothing to handle, and what the account said itself. */
const QUIET = `import { defineAdapter } from 'svc';

export default defineAdapter({
  name: 'quiet',
  account: {},
  can: { text: { limit: 100, unit: 'bytes', render: 'plain' } },
  webhook: {
    verify: () => ({ kind: 'ok' }),
    parse: ({ body }) =>
      JSON.parse(Buffer.from(body).toString()).map((self, at) => ({
        kind: 'message', id: 'm' + at, message: 'm' + at, text: 'hi', sentAt: 0,
        conversation: { id: 'room', kind: 'group' }, user: { id: 'ann', name: 'Ann', admin: false, self },
      })),
  },
  send: async () => ({ kind: 'sent' }),
});
`;

const start = (t: Cleanup): Promise<FaultyHost> =>
  FaultyHost.start(t, {
    sources: { 'trouble.js': TROUBLE, 'quiet.js': QUIET },
    plugins: { trouble: { use: './plugins/trouble.js' }, quiet: { use: './plugins/quiet.js' } },
    config: { inbox: { maxAttempts: ATTEMPTS, quarantineSeconds: 1 } },
  });

const metricsOf = async ({ url, project }: FaultyHost): Promise<string> =>
  (await fetch(`${url}/api/metrics`, { headers: { authorization: `Bearer ${project.token}` } })).text();

/** Texts that the bot said. */
const said = (host: FaultyHost): readonly string[] => [...host.platform.posts.values()].map(({ text }) => text);

/** Starts it again after each death until it lives long enough to have nothing left to do; how often it was started. */
async function startUntilItLives(host: FaultyHost): Promise<number> {
  for (let starts = 1; ; starts += 1) {
    host.restart();
    // Asked of this life alone: what goes on asking after it keeps the test's process running.
    await until(
      async () => host.life.end !== undefined || ((await host.api.isReady()) && (await host.api.unfinished()) === 0),
      { what: 'rest' },
    );
    if (host.life.end === undefined) return starts;
    assert.ok(starts < 4 * ATTEMPTS, 'it comes to an end');
  }
}

describe('an exception in a plugin', () => {
  it('in a handler ends as a dead letter with its error, and the others are served', TIMEOUT, async (t) => {
    const host = await start(t);
    const { id } = await host.deliver('/throw');
    await host.deliver('/echo still here');

    const items = await host.handled();

    assert.equal(items.get(id)?.state, 'dead');
    const shown = (await host.api.get(`/api/inbox/${items.get(id)?.id}`)) as { lastError: string };
    assert.match(shown.lastError, /a detail that nobody may see/);
    await until(() => said(host).includes('still here'), { what: 'the answer' });
    assert.ok(!said(host).some((text) => text.includes('a detail')), 'people are told nothing of it');
  });

  it('in a route is 500 without a detail, and no answer repeats what was sent', TIMEOUT, async (t) => {
    const host = await start(t);
    const authorization = `Bearer ${host.project.token}`;

    const response = await fetch(`${host.url}/plugins/trouble/broken`, { headers: { authorization } });
    const refused = await fetch(`${host.url}/plugins/trouble/days`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"days":"sent"}',
    });
    const unknown = await fetch(`${host.url}/api/endpoints/sent-by-me`, { headers: { authorization } });

    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /a detail/);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /"detail":"days: expected a number"/);
    assert.equal(unknown.status, 404);
    assert.doesNotMatch(await unknown.text(), /sent-by-me/);
    assert.equal((await host.deliver('/echo still here')).status, 200);
  });

  it(
    'in what a webhook is asked is 500 without a detail, counted; a body that is no JSON is a dead letter at once',
    TIMEOUT,
    async (t) => {
      const host = await start(t);
      const post = async (name: string, text = '{}'): Promise<readonly [number, string]> => {
        const response = await fetch(`${host.url}/webhooks/trouble/${name}`, { method: 'POST', body: text });
        return [response.status, await response.text()];
      };

      for (const name of ['verify', 'nothing', 'handshake', 'accept', 'delivery', 'late-accept', 'late-delivery']) {
        const [status, text] = await post(name);
        assert.equal(status, 500, name);
        assert.match(text, /"code":"plugin_failed"/);
        assert.doesNotMatch(text, /a detail/);
      }
      assert.deepEqual(
        [
          (await post('lane'))[0],
          (await post('fine'))[0],
          (await post('fine', '{no json'))[0],
          (await post('other'))[0],
        ],
        [202, 202, 202, 202],
      );
      await until(async () => (await host.api.unfinished()) === 0, { what: 'rest' });

      const { items } = (await host.api.get('/api/inbox?state=dead')) as {
        items: { attempts: number; lastError: string }[];
      };
      assert.deepEqual(
        items.map(({ attempts }) => attempts),
        [0],
      );
      assert.match(items[0]?.lastError ?? '', /cannot be parsed/);
      const metrics = await metricsOf(host);
      assert.match(metrics, /^svc_plugin_failures_total\{plugin="root\/trouble",[^}]*\} 7$/m);
      for (const [name, outcome] of [
        ['verify', 'failed'],
        ['fine', 'accepted'],
        ['fine', 'unparsable'],
        ['other', 'ignored'],
      ])
        assert.match(
          metrics,
          new RegExp(
            `^svc_webhooks_total\\{endpoint="root/trouble#webhook/${name}",outcome="${outcome}",[^}]*\\} 1$`,
            'm',
          ),
        );
    },
  );

  it(
    'in a gauge, a listener of its signal or the end of a resource takes nothing with it: reload and stop go on',
    TIMEOUT,
    async (t) => {
      const host = await start(t);

      assert.match(await metricsOf(host), /^svc_ready\{/m);
      const reloaded = await fetch(`${host.url}/api/system/reload`, {
        method: 'POST',
        headers: { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json' },
        body: '{}',
      });
      assert.equal(reloaded.status, 200);
      assert.equal((await host.deliver('/echo still here')).status, 200);
      await host.handled();

      const stopped = await svc(['runtime', 'stop'], { cwd: host.project.path });
      assert.equal(stopped.code, 0, stopped.stderr);
      await host.life.ended;
      const { end } = JSON.parse(host.project.read('.svc/worker.json')) as { end: { code: number } };
      assert.equal(end.code, 0);
    },
  );
});

describe('a delivery', () => {
  it('that holds nothing to handle is counted apart from one that is known', TIMEOUT, async (t) => {
    const host = await start(t);
    const post = async (body: readonly boolean[]): Promise<unknown> =>
      (await fetch(`${host.url}/webhooks/quiet`, { method: 'POST', body: JSON.stringify(body) })).json();

    const answers = [await post([]), await post([true]), await post([false]), await post([false, true])];

    assert.deepEqual(answers, [
      { accepted: 0, duplicates: 0 },
      { accepted: 0, duplicates: 0 },
      { accepted: 1, duplicates: 0 },
      { accepted: 0, duplicates: 1 },
    ]);
    const metrics = await metricsOf(host);
    for (const [outcome, count] of [
      ['ignored', 2],
      ['accepted', 1],
      ['duplicate', 1],
    ])
      assert.match(
        metrics,
        new RegExp(`^svc_webhooks_total\\{endpoint="root/quiet:quiet",outcome="${outcome}",[^}]*\\} ${count}$`, 'm'),
      );
  });
});

describe('a message that ends the process', () => {
  for (const [how, code, signal] of [
    ['stray', 1, null],
    ['kill', null, 'SIGKILL'],
  ] as const) {
    it(
      `by ${how === 'stray' ? 'a rejection that nobody handles' : 'killing it'} ends as a dead letter after ${ATTEMPTS} starts, and the rest is handled`,
      TIMEOUT,
      async (t) => {
        const host = await start(t);
        const id = await host.deliverDeadly(`/${how}`);
        assert.deepEqual(await host.life.ended, { code, signal });

        const starts = await startUntilItLives(host);
        await host.deliver('/echo after it');
        const items = await host.handled();

        assert.equal(starts, ATTEMPTS);
        assert.equal(items.get(id)?.state, 'dead');
        await until(() => said(host).includes('after it'), { what: 'the answer' });
      },
    );
  }

  it('takes none of those that were waiting with it', TIMEOUT, async (t) => {
    const host = await start(t);
    const ingress = (state: string): Promise<Response> =>
      fetch(`${host.url}/api/system/ingress`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ state }),
      });
    assert.equal((await ingress('paused')).status, 200);
    const texts = Array.from({ length: 30 }, (_, index) => `bystander ${index}`);
    for (const text of texts.slice(0, 15)) await host.deliver(`/echo ${text}`);
    const { id } = await host.deliver('/kill');
    for (const text of texts.slice(15)) await host.deliver(`/echo ${text}`);

    await ingress('open').catch(() => {}); // it may die before it answers
    await host.life.ended;
    await startUntilItLives(host);
    const items = await host.handled();

    assert.deepEqual(
      [...items.values()].filter(({ state }) => state !== 'done').map(({ deliveryId }) => deliveryId),
      [id],
    );
    const answers = (): readonly string[] => said(host).filter((text) => text.startsWith('bystander'));
    await until(() => answers().length >= texts.length, { what: 'all answers' });
    assert.deepEqual(answers().toSorted(), texts.toSorted());
  });
});
