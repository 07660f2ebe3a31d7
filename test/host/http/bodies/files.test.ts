// The address of signed links: no token, always a download, nothing of the path reaches the file system.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHttp } from '../../../support/http/http-server.ts';

const GOOD = '/files/1?name=x&expires=1&signature=good';

describe('GET /files', () => {
  it('hands a file out as a download that no browser runs', async (t) => {
    const { raw, host } = await startHttp(t);

    const answer = await raw(`GET ${GOOD}`);

    assert.equal(answer.status, 200);
    assert.equal(answer.body, '<script>');
    assert.equal(answer.headers['content-type'], 'application/octet-stream');
    assert.equal(answer.headers['content-length'], '8');
    assert.equal(
      answer.headers['content-disposition'],
      `attachment; filename="_ _x_.html"; filename*=UTF-8''%C3%A4%20%22x%22.html`,
    );
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.match(answer.headers['content-security-policy'] ?? '', /default-src 'none'; sandbox;/);
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.deepEqual(host.calls, ['closed']);
  });

  it('answers HEAD without the file, and closes it', async (t) => {
    const { raw, host } = await startHttp(t);

    const answer = await raw(`HEAD ${GOOD}`, ['Connection: close']);

    assert.deepEqual([answer.status, answer.body, answer.headers['content-length']], [200, '', '8']);
    assert.deepEqual(host.calls, ['closed']);
  });

  it('refuses what is not signed, whatever the path says', async (t) => {
    const { raw } = await startHttp(t);
    const cases = [
      ['/files/1', 403],
      ['/files/1?name=x&expires=1&signature=bad', 403],
      ['/files/2?signature=good', 404],
      ['/files/', 404],
      ['/files/1/2?signature=good', 404],
      ['/files/../1?signature=good', 400],
      ['/files/..%2f..%2f.env?signature=good', 400],
      ['/files/%2e%2e?signature=good', 400],
      ['/files/1?signature=bad&signature=good', 400],
      ['/files/1%00?signature=good', 400],
    ] as const;
    for (const [target, status] of cases) assert.equal((await raw(`GET ${target}`)).status, status, target);
    assert.equal((await raw(`POST ${GOOD}`)).status, 405);
    assert.equal((await raw('GET /pub/health')).status, 200);
  });
});
