// The chat page and its files over HTTP: strict, without a token, and nothing that is not a file of it.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startHttp } from '../../support/http/http-server.ts';
import { until } from '../../support/until.ts';

describe('the page', () => {
  async function pageFolder(t: TestContext): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-page-'));
    t.after(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'console', 'assets'), { recursive: true });
    await writeFile(join(folder, 'secret.txt'), 'secret');
    await writeFile(join(folder, 'console', 'index.html'), '<!doctype html><title>svc</title>');
    await writeFile(join(folder, 'console', 'assets', 'page-5f2c91ab.js'), 'export {};');
    await writeFile(join(folder, 'console', 'assets', 'page-5f2c91ab.js.map'), '{}');
    await writeFile(join(folder, 'console', '.hidden.txt'), 'hidden');
    await symlink(join(folder, 'secret.txt'), join(folder, 'console', 'link.txt'));
    return join(folder, 'console');
  }

  it('is served without a token and in every state, under a strict policy', async (t) => {
    const server = await startHttp(t, { staticDir: await pageFolder(t), base: '/bot' });
    server.host.isReady = false;

    const page = await server.raw('GET /bot/');
    const script = await server.raw('GET /bot/assets/page-5f2c91ab.js');

    assert.deepEqual(
      [page.status, page.headers['content-type'], page.headers['cache-control']],
      [200, 'text/html; charset=utf-8', 'no-cache'],
    );
    const policy = page.headers['content-security-policy'] ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "frame-ancestors 'none'",
    ]) {
      assert.ok(policy.split('; ').includes(rule), rule);
    }
    assert.ok(!policy.includes('unsafe'));
    assert.deepEqual([script.status, script.headers['content-type']], [200, 'text/javascript; charset=utf-8']);
    assert.match(script.headers['cache-control'] ?? '', /immutable/);
    assert.equal((await server.raw('GET /bot/', [`If-None-Match: ${page.headers.etag}`])).status, 304);
    assert.equal((await server.raw('POST /bot/')).status, 405);
    assert.deepEqual(
      [(await server.raw('GET /bot')).status, (await server.raw('GET /bot')).headers.location],
      [308, '/bot/'],
    );
  });

  it('gives out nothing that is not a file of it', async (t) => {
    const server = await startHttp(t, { staticDir: await pageFolder(t) });
    const targets = [
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/link.txt',
      '/.hidden.txt',
      '/assets/page-5f2c91ab.js.map',
      '/assets',
      '/assets/',
      '/constructor',
      '/__proto__',
    ];
    for (const target of targets) {
      const answer = await server.raw(`GET ${target}`);
      assert.ok([400, 404].includes(answer.status), `${target} ${answer.status}`);
    }
  });

  it('is taken anew after a build', async (t) => {
    const folder = await pageFolder(t);
    const server = await startHttp(t, { staticDir: folder });
    const first = (await server.raw('GET /')).headers.etag;
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>new</title>');

    await until(async () => (await server.raw('GET /')).headers.etag !== first, { what: 'the new page' });
  });
});
