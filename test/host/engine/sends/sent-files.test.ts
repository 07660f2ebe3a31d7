// Messages with files that this machine cannot read for now: they use up no attempt, whatever the adapter makes of it, and go out when it can.
import assert from 'node:assert/strict';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { describe, it, type TestContext } from 'node:test';
import { SvcError } from '../../../../shared/svc-error.ts';
import { MediaFolder } from '../../../../worker/files/file-store.ts';
import {
  defineAdapter,
  definePlugin,
  type FileRef,
  type Link,
  type Outgoing,
  type SendResult,
} from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
type Sends = (post: Post, link: Link<unknown>) => Promise<SendResult>;

async function contentOf(post: Post, link: Link<unknown>): Promise<string> {
  let text = '';
  for (const file of post.files) {
    const { content } = await link.openFile(file);
    for await (const chunk of content()) text += Buffer.from(chunk).toString();
  }
  return text;
}

/** What adapters make of a file that cannot be read. */
const ADAPTERS: Readonly<Record<string, Sends>> = {
  'throws it': async (post, link) => ({ kind: 'sent', message: await contentOf(post, link) }),
  'throws another error': async (post, link) => ({
    kind: 'sent',
    message: await contentOf(post, link).catch(() => Promise.reject(new Error('network error'))),
  }),
  'calls it refused': async (post, link) => {
    const message = await contentOf(post, link).catch(() => undefined);
    return message === undefined ? { kind: 'refused', reason: 'wrong file' } : { kind: 'sent', message };
  },
  'reads it whole': async (post, link) => {
    const parts = await Promise.all(post.files.map((file) => link.readFile(file)));
    return { kind: 'sent', message: Buffer.concat(parts).toString() };
  },
};

interface Broken {
  refusals(): number;
  mend(): void;
}
interface Sending {
  readonly host: EngineHost;
  /** Throws while there is no room. */
  room: () => void;
  /** The platform was asked for the file. */
  isFetched: boolean;
}

const NO_ROOM = (_: TestContext, sending: Sending): Broken => {
  let refusals = 0;
  sending.room = () => {
    if (!sending.isFetched) return; // first while the file is on its way
    refusals += 1;
    throw new SvcError('disk_budget', 'no room');
  };
  return { refusals: () => refusals, mend: () => void (sending.room = () => {}) };
};
const NO_DESCRIPTOR = (test: TestContext): Broken => opensNothing(test, 'EMFILE');

function opensNothing(test: TestContext, code: string): Broken {
  const refused = Object.assign(new Error(`the machine says ${code}`), { code });
  const mocks = (['open', 'readFile'] as const).map(
    (name) => test.mock.method(promises, name, () => Promise.reject(refused)).mock,
  );
  syncBuiltinESMExports();
  const mend = (): void => {
    for (const mock of mocks) mock.restore();
    syncBuiltinESMExports();
  };
  test.after(mend);
  return { refusals: () => mocks.reduce((sum, mock) => sum + mock.callCount(), 0), mend };
}

/** By the id that the file has, and the state of the machine. */
const FAILURES: Readonly<
  Record<
    string,
    { readonly of: 'platform' | 'host'; readonly breakIt: (test: TestContext, sending: Sending) => Broken }
  >
> = {
  'the disk is too low to copy it': { of: 'platform', breakIt: NO_ROOM },
  'no descriptor is free for a file that is kept': { of: 'host', breakIt: NO_DESCRIPTOR },
};

/** Of which some may be none: the clock is set on before the last one has ended. */
const MOST_ATTEMPTS = 40;

/** A second on, and to the end of the attempt that it begins. Files are read beside the clock: it stands meanwhile. */
async function attempt(host: EngineHost): Promise<void> {
  await host.advance(1_000);
  const ended = (): boolean => host.states('outbox').some((state) => state !== 'sending' && state !== 'pending');
  await host.until('the end of an attempt', ended);
}

describe('a message with a file', () => {
  for (const [failure, { of, breakIt }] of Object.entries(FAILURES))
    for (const [name, sends] of Object.entries(ADAPTERS))
      it(`uses up no attempt while ${failure}, where the adapter ${name}`, async (test) => {
        const sending = await sendingHost(test, { of, sends, onUnknown: 'resend' });
        const { host } = sending;
        const broken = breakIt(test, sending);
        await asks(host);
        for (let made = 0; made < MOST_ATTEMPTS && broken.refusals() < 5; made += 1) await attempt(host);
        const during = host.rows('SELECT state, attempts, failures FROM outbox');
        broken.mend();
        for (let made = 0; made < MOST_ATTEMPTS && !host.states('outbox').includes('sent'); made += 1)
          await attempt(host);

        assert.deepEqual(during, [{ state: 'waiting', attempts: 0, failures: 0 }]);
        assert.deepEqual(host.rows('SELECT state, attempts, platform_message AS message FROM outbox'), [
          { state: 'sent', attempts: 1, message: 'meow' },
        ]);
      });

  it('waits ever longer while the host cannot read its file, and says why', async (test) => {
    const outcomes: string[] = [];
    const { host } = await sendingHost(test, {
      of: 'host',
      sends: ADAPTERS['throws it'],
      onUnknown: 'resend',
      sent: (outcome) => outcomes.push(outcome),
    });
    const broken = NO_DESCRIPTOR(test);
    await asks(host);
    const waits: number[] = [];
    for (let known = 0; waits.length < 8; ) {
      await attempt(host);
      const nextAt = Number(host.rows('SELECT next_at FROM outbox')[0]?.['next_at']);
      if (nextAt !== known) waits.push(nextAt - host.clock.now());
      known = nextAt;
    }
    const during = host.rows('SELECT state, attempts, last_error FROM outbox');
    const told = [...outcomes];
    broken.mend();
    while (!host.states('outbox').includes('sent')) await attempt(host);

    const isGrowing = Number(waits[0]) <= 8_000 && Number(waits.at(-1)) >= 28_000;
    assert.ok(isGrowing && waits.every((ms) => ms <= 60_000), waits.join(', '));
    assert.deepEqual([during[0]?.['state'], during[0]?.['attempts']], ['waiting', 0]);
    assert.match(String(during[0]?.['last_error']), /EMFILE/);
    assert.deepEqual([new Set(told), outcomes.at(-1)], [new Set(['put_off']), 'sent']);
  });

  it('is given up after its attempts where a kept file cannot be read for good', async (test) => {
    const { host } = await sendingHost(test, { of: 'host', sends: ADAPTERS['throws it'], onUnknown: 'resend' });
    opensNothing(test, 'EACCES');
    await asks(host);
    for (let made = 0; made < MOST_ATTEMPTS && !host.states('outbox').includes('dead'); made += 1)
      await host.advance(600_000);

    assert.deepEqual(host.rows('SELECT state, attempts FROM outbox'), [{ state: 'dead', attempts: 3 }]);
  });

  it('is left to an operator where that is asked for what may have gone out', async (test) => {
    const sending = await sendingHost(test, { of: 'platform', sends: ADAPTERS['throws it'], onUnknown: 'hold' });
    const { host } = sending;
    NO_ROOM(test, sending);
    await asks(host);
    await host.until('the end', () => host.states('outbox').includes('unknown'));
  });
});

const asks = (host: EngineHost): Promise<void> => host.platform.says('send it');

async function sendingHost(
  test: TestContext,
  {
    of,
    sends,
    onUnknown,
    sent,
  }: {
    readonly of: 'platform' | 'host';
    readonly sends: Sends | undefined;
    readonly onUnknown: string;
    readonly sent?: (outcome: string) => void;
  },
): Promise<Sending> {
  const adapter = defineAdapter({
    name: 'filer',
    account: {},
    can: {
      text: { limit: 100, unit: 'utf16', render: 'plain' },
      files: { maxBytes: 1_000 },
      idempotent: onUnknown === 'resend',
    },
    connect: (link) => {
      link.online();
      return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve()));
    },
    fetchFile: async () => {
      sending.isFetched = true;
      return new Blob(['meow']).stream();
    },
    send: (call, link) => sends?.(call as Post, link as Link<unknown>) ?? Promise.reject(new Error('no way to send')),
  });
  const files: { one: FileRef } = { one: { id: 'cat', name: 'cat.txt', mime: 'text/plain', bytes: 0 } };
  const sender = definePlugin({
    name: 'sender',
    setup(p) {
      p.on('message', {}, (ctx) => {
        ctx.send({ endpoint: 'root/filer:filer~x', id: 'room' }, { text: 'look', files: [files.one] });
      });
    },
  });
  const host = await engineHost(test, {
    modules: { filer: adapter, sender },
    config: { outbox: { maxAttempts: 3, onUnknown }, plugins: { filer: { endpoints: [{ id: 'x' }] } } },
    engine: { admit: () => sending.room(), observer: { sent: (_row, outcome) => sent?.(outcome) } },
  });
  const sending: Sending = { host, room: () => {}, isFetched: false };
  if (of === 'host') {
    const media = new MediaFolder(host.core, host.project.paths.mediaDir);
    files.one = await media.save({ name: 'cat.txt', mime: 'text/plain', bytes: Buffer.from('meow') });
  }
  return sending;
}
