// What is measured of requests and of the process: whoever asks for made-up addresses adds no series, and every figure is one of this host.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { ROUTES } from '../../../worker/http/routes/route-table.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { sendRaw } from '../../support/http/raw-http.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const SECONDS = 'svc_http_request_seconds';
const BUCKETS = ['0.001', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '1', '5', '+Inf'];
const SLOW_MS = 30;
const SLOW = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'slow', setup(p) {
  p.route('GET /slow', { scope: 'none' }, () => new Promise((resolve) => setTimeout(() => resolve({ text: 'late' }), ${SLOW_MS})));
  p.route('GET /odd', { scope: 'none' }, () => ({ status: 418, text: 'a teapot' }));
} });
`;

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

async function samples(host: Running, prefix: string): Promise<readonly Sample[]> {
  const { text } = await host.call('GET', '/api/metrics');
  return text
    .split('\n')
    .filter((line) => line.startsWith(prefix))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
      return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
    });
}

/** Series by what they are of. */
const seriesOf = (all: readonly Sample[]): string[] =>
  [...new Set(all.map(({ labels: { route, code } }) => `${route} ${code}`))].toSorted();

const valueOf = (all: readonly Sample[], name: string, wanted: Readonly<Record<string, string>>): number =>
  all.find((one) => one.name === name && Object.entries(wanted).every(([key, value]) => one.labels[key] === value))
    ?.value ?? 0;

async function started(t: Parameters<typeof running>[0]): Promise<Running> {
  const host = await running(t, {
    project: temporaryProject(t, {
      config: { http: HTTP, plugins: { sandbox: {}, slow: { use: './plugins/slow.js' } } },
      plugins: { 'slow.js': SLOW },
    }),
  });
  const { status, text } = await host.call('GET', '/api/system/readiness');
  assert.equal(status, 200, text);
  return host;
}

describe('svc_http_request_seconds', () => {
  it('has a series a route and class of status, and none for what a stranger makes up', async (t) => {
    const host = await started(t);
    const port = host.app.address()?.port ?? 0;
    const strange = async (): Promise<void> => {
      const word = randomBytes(6).toString('hex');
      for (const path of [
        `/${word}`,
        `/api/${word}`,
        `/api/inbox/${word}`,
        `/api/endpoints/${word}/${word}/enable`,
        `/webhooks/${word}`,
        `/webhooks/sandbox/${word}`,
        `/plugins/${word}/${word}`,
        `/plugins/slow/${word}`,
        `/plugins/slow/odd?who=${word}`,
        `/files/${word}?name=${word}`,
        `/pub/health?${word}`,
        `/api/system/status?token=${word}`,
      ])
        for (const method of ['GET', 'POST', word.toUpperCase()])
          await sendRaw(
            port,
            `${method} ${path} HTTP/1.1\r\nHost: ${word}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
          );
      for (const raw of [
        `GET ${word} HTTP/1.1\r\n\r\n`,
        `${word}\r\n\r\n`,
        `GET /%2e%2e/${word} HTTP/1.1\r\nHost: a\r\n\r\n`,
      ])
        await sendRaw(port, raw);
    };
    await strange();
    const first = await samples(host, SECONDS);
    for (let round = 0; round < 10; round += 1) await strange();
    const then = await samples(host, SECONDS);

    const known = new Set([...ROUTES.map(({ path }) => path), 'none']);
    const routes = new Set(then.map(({ labels }) => labels['route'] ?? ''));
    assert.deepEqual(
      [...routes].filter((route) => !known.has(route)),
      [],
    );
    assert.deepEqual(new Set(then.map(({ labels }) => labels['code'])), new Set(['2xx', '4xx']));
    // The first scrape is itself the only request in between that is not of a stranger.
    assert.deepEqual(
      seriesOf(then).filter((one) => one !== '/api/metrics 2xx'),
      seriesOf(first).filter((one) => one !== '/api/metrics 2xx'),
    );
    const strangers = valueOf(then, `${SECONDS}_count`, { route: 'none', code: '4xx' });
    assert.ok(strangers > 100, `${strangers} were counted`);
  });

  it('puts each answer into its buckets, and into its class of status', async (t) => {
    const host = await started(t);
    for (const who of ['ann', 'bob', 'cem']) await host.call('GET', `/plugins/slow/slow?who=${who}`);
    await host.call('GET', '/plugins/slow/odd');
    const all = await samples(host, SECONDS);
    const of = { route: '/plugins/{slot}/{path*}', code: '2xx' };
    const buckets = all.filter(
      ({ name, labels: { route, code } }) => name === `${SECONDS}_bucket` && route === of.route && code === of.code,
    );
    const values = buckets.map(({ value }) => value);

    assert.deepEqual(
      buckets.map(({ labels: { le } }) => le),
      BUCKETS,
    );
    assert.deepEqual(
      values,
      values.toSorted((a, b) => a - b),
    );
    assert.deepEqual([values[3], values.at(-1)], [0, 3], 'none under 25 ms, all in the last');
    assert.equal(valueOf(all, `${SECONDS}_count`, of), 3);
    const sum = valueOf(all, `${SECONDS}_sum`, of);
    assert.ok(sum >= (3 * (SLOW_MS - 1)) / 1_000, `${sum} s`);
    assert.equal(valueOf(all, `${SECONDS}_count`, { ...of, code: '4xx' }), 1);
  });

  it('counts a stream once', async (t) => {
    const host = await started(t);
    const end = new AbortController();
    t.after(() => end.abort());
    const stream = await fetch(`http://127.0.0.1:${host.app.address()?.port}/api/events`, {
      headers: { authorization: `Bearer ${host.project.token}` },
      signal: end.signal,
    });
    await stream.body?.getReader().read();
    end.abort();
    const of = { route: '/api/events', code: '2xx' };
    const all = await until(
      async () => [await samples(host, SECONDS)].find((one) => valueOf(one, `${SECONDS}_count`, of) > 0),
      { what: 'the stream to be counted' },
    );

    assert.equal(valueOf(all, `${SECONDS}_count`, of), 1);
  });
});

describe('svc_process_*', () => {
  it('are those of this process, in bytes and seconds', async (t) => {
    const host = await started(t);
    const scrape = async (): Promise<Readonly<Record<string, number>>> =>
      Object.fromEntries((await samples(host, 'svc_process_')).map(({ name, value }) => [name, value]));
    // oxlint-disable-next-line eslint/no-restricted-properties -- the figure that is told, before and after
    const cpuNow = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
    const before = { cpu: cpuNow(), uptime: process.uptime(), rss: process.memoryUsage.rss() };
    const first = await scrape();
    for (let n = 0; n < 20_000; n += 1) randomBytes(1_024);
    const then = await scrape();

    assert.deepEqual(Object.keys(then).toSorted(), [
      'svc_process_cpu_seconds',
      'svc_process_resident_memory_bytes',
      'svc_process_uptime_seconds',
    ]);
    const { svc_process_cpu_seconds: cpu = 0, svc_process_uptime_seconds: uptime = 0 } = first;
    assert.ok(cpu >= before.cpu && (then['svc_process_cpu_seconds'] ?? 0) > cpu && cpuNow() > cpu);
    assert.ok(uptime >= before.uptime && (then['svc_process_uptime_seconds'] ?? 0) > uptime);
    assert.ok((then['svc_process_uptime_seconds'] ?? 0) <= process.uptime());
    const rss = then['svc_process_resident_memory_bytes'] ?? 0;
    assert.ok(rss > before.rss / 2 && rss < before.rss * 2, `${rss} of ${before.rss}`);
  });
});
