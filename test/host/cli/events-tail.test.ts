import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { command } from '../../../supervisor/cli/commands/events-tail.ts';
import { type CapturedContext, capturedContext } from '../../support/commands/cli-context.ts';
import { EPOCH, eventLog, serveEvents } from '../../support/hosts/event-log.ts';
import { until } from '../../support/until.ts';

/** One that fetch refuses, and that nobody has: another run of the tests may have the first. */
async function blockedPort(): Promise<number> {
  for (const port of [10_080, 6_566, 6_679, 6_697, 4_190, 3_659]) {
    const probe = createServer();
    const isFree = await new Promise((resolve) =>
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
    );
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error('no port that fetch refuses is free');
}

const ids = (context: CapturedContext): string[] =>
  context.documents.map((document) => String((document as { id: unknown }).id));

describe('svc events tail', () => {
  it('prints what is stored after an id and ends with --no-follow', async (t) => {
    const log = eventLog(t);
    await log.emit(3, { endpoint: 'root/irc:irc' });
    const { url } = await serveEvents(t, log);
    const context = capturedContext(url);

    const code = await command.run(context, [], { after: `${EPOCH}.2`, follow: false });

    assert.equal(code, 0);
    assert.equal(context.out.length, 1);
    assert.match(
      context.out[0] ?? '',
      /^\S+ abcdefgh01234567\.3 inbox\.done root\/irc:irc item=item-3 attempts=1 sends=3 durationMs=0$/,
    );
  });

  it('goes on over a restart of the host without a hole, and shows a gap as a line', async (t) => {
    const log = eventLog(t);
    await log.emit(2);
    const first = await serveEvents(t, log, { drainRetryMs: [20, 30] });
    let url = first.url;
    const context = capturedContext(() => url, { json: true });
    const done = command.run(context, [], { after: `${EPOCH}.0` });
    await until(() => context.documents.length === 2, { what: 'the stored events' });

    await first.gateway.drain();
    await log.emit(3);
    url = (await serveEvents(t, log, { drainRetryMs: [20, 30] })).url;
    await until(() => context.documents.length === 5, { what: 'the events of the time between' });
    const last = await serveEvents(t, log, { epoch: 'zzzzzzzz01234567' });
    assert.deepEqual(
      ids(context),
      [1, 2, 3, 4, 5].map((seq) => `${EPOCH}.${seq}`),
    );

    const other = capturedContext(last.url);
    await command.run(other, [], { after: `${EPOCH}.5`, follow: false });
    assert.match(
      other.out[0] ?? '',
      /^-- gap: epoch_changed; events may be missing; goes on after zzzzzzzz01234567\.0$/,
    );
    assert.equal(other.out.length, 6);
    context.abort();
    assert.equal(await done, 0);
  });

  it('follows a host at a port that fetch refuses', async (t) => {
    const log = eventLog(t);
    await log.emit(1);
    const { url } = await serveEvents(t, log, { port: await blockedPort() });
    const context = capturedContext(url, { json: true });

    await command.run(context, [], { after: `${EPOCH}.0`, follow: false });

    assert.deepEqual(ids(context), [`${EPOCH}.1`]);
  });

  it('waits for a host that was stopped, and says once that nothing runs', async (t) => {
    const log = eventLog(t);
    await log.emit(1);
    const first = await serveEvents(t, log, { drainRetryMs: [20, 30] });
    let attempts = 0;
    let address: string | undefined = first.url;
    const context = capturedContext(
      () => {
        attempts += 1;
        if (address === undefined) throw new SvcError('not_running', 'nothing is running here');
        return address;
      },
      { json: true },
    );
    const done = command.run(context, [], { after: `${EPOCH}.0` });
    await until(() => context.documents.length === 1, { what: 'the stored event' });

    address = undefined;
    await first.gateway.drain();
    await until(() => attempts >= 5, { what: 'four attempts in vain' });
    address = (await serveEvents(t, log, { drainRetryMs: [20, 30] })).url;
    await log.emit(1);
    await until(() => context.documents.length === 2, { what: 'the event of the next host' });
    context.abort();
    await done;

    assert.deepEqual(
      context.notes.filter((note) => note !== 'live'),
      [
        'the host ends the stream: it stops or restarts',
        'connection lost; trying again',
        'nothing is running here; trying again',
      ],
    );
  });

  it('says at once when nothing runs, and when the host refuses', async (t) => {
    const server = createServer((_request, response) =>
      response
        .writeHead(401, { 'content-type': 'application/problem+json' })
        .end('{"code":"invalid_token","title":"The token is not valid"}'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());

    await assert.rejects(command.run(capturedContext('http://127.0.0.1:9'), [], {}), { code: 'not_running' });
    await assert.rejects(
      command.run(capturedContext(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), [], {}),
      { code: 'invalid_token' },
    );
  });
});
