// Large files on their way to a platform: they go from the disk to the network, and never lie in memory as a whole.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { account as discordKeys } from '../../../worker/adapters/discord/config.ts';
import { discord } from '../../../worker/adapters/discord/index.ts';
import { account as slackKeys } from '../../../worker/adapters/slack/config.ts';
import { slack } from '../../../worker/adapters/slack/index.ts';
import { account as telegramKeys } from '../../../worker/adapters/telegram/config.ts';
import { telegram } from '../../../worker/adapters/telegram/index.ts';
import { FileSource } from '../../../worker/files/file-source.ts';
import { MediaFolder } from '../../../worker/files/file-store.ts';
import type { FileRef } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { type HoldingServer, heldBytes, holdingServer } from '../../support/disk/held-bytes.ts';

const CHANNEL = '645027906669510667';
const CHUNK = 1_048_576;
const SIZE = 40 * CHUNK;
/** Of buffers on the way: the disk's, the client's, the socket's. */
const MOST_HELD = SIZE / 4;

describe('a file of 40 MB', { timeout: 590_000 }, () => {
  it('goes to Slack as it is read, with its size', async (t) => {
    const { link, file, source } = media(t);
    const { platform, account } = await slackAt(t);

    const before = heldBytes();
    const sent = definitionOf(slack, slackKeys).send(postOf('C1', file), link(account));
    await Promise.race([platform.held, sent]);
    const during = heldBytes() - before;
    platform.release();

    assert.deepEqual(await sent, { kind: 'sent' });
    assert.ok(during < MOST_HELD, `${during} bytes were held`);
    const upload = platform.received.find(({ path }) => path.startsWith('/upload/'));
    assert.deepEqual([upload?.bytes, upload?.sha256], [SIZE, file.id]);
    assert.deepEqual(
      [upload?.headers['content-length'], upload?.headers['transfer-encoding']],
      [String(SIZE), undefined],
    );
    assert.ok(heldWhole(await source.read(file)) > MOST_HELD, 'what is held would be seen');
  });

  it('goes to Telegram as it is read', async (t) => {
    const { link, file } = media(t);
    const message = { message_id: 7, date: 1, chat: { id: 5, type: 'private' } };
    const platform = await holdingServer(t, () => ({ ok: true, result: message }));
    const account = { token: secret('42:abc'), mode: 'polling' as const, secrets: [], apiUrl: platform.url };

    const before = heldBytes();
    const sent = definitionOf(telegram, telegramKeys).send(postOf('5', file), link(account));
    await Promise.race([platform.held, sent]);
    const during = heldBytes() - before;
    platform.release();

    assert.deepEqual(await sent, { kind: 'sent', message: '7' });
    assert.ok(during < MOST_HELD, `${during} bytes were held`);
    const [upload] = platform.received;
    assert.ok((upload?.bytes ?? 0) > SIZE && (upload?.bytes ?? 0) < SIZE + 2_000, 'the file with its form');
    assert.match(upload?.path ?? '', /sendDocument/);
  });

  it('goes to Discord as it is read, with its size', async (t) => {
    const { link, file } = media(t);
    const platform = await holdingServer(t, () => ({ id: '645027906669510668', channel_id: CHANNEL }));

    const before = heldBytes();
    const sent = definitionOf(discord, discordKeys).send(postOf(CHANNEL, file), link(discordAt(platform)));
    await Promise.race([platform.held, sent]);
    const during = heldBytes() - before;
    platform.release();

    assert.deepEqual(await sent, { kind: 'sent', message: `${CHANNEL}/645027906669510668` });
    assert.ok(during < MOST_HELD, `${during} bytes were held`);
    const [upload] = platform.received;
    assert.ok((upload?.bytes ?? 0) > SIZE && (upload?.bytes ?? 0) < SIZE + 2_000, 'the file with its form');
    assert.deepEqual(
      [upload?.headers['content-length'], upload?.headers['transfer-encoding']],
      [String(upload?.bytes), undefined],
    );
  });

  it('that lies on another platform is copied as it comes, and goes to Slack and Discord from the disk, with its size', async (t) => {
    const { link, there, sha256, folder } = media(t);
    const { platform: slackServer, account } = await slackAt(t);
    const discordServer = await holdingServer(t, () => ({ id: '645027906669510668', channel_id: CHANNEL }));
    const sends = [
      { platform: slackServer, send: () => definitionOf(slack, slackKeys).send(postOf('C1', there), link(account)) },
      {
        platform: discordServer,
        send: () => definitionOf(discord, discordKeys).send(postOf(CHANNEL, there), link(discordAt(discordServer))),
      },
    ];

    for (const { platform, send } of sends) {
      const before = heldBytes();
      const sent = send();
      await Promise.race([platform.held, sent]);
      const during = heldBytes() - before;
      platform.release();
      assert.equal((await sent).kind, 'sent');
      assert.ok(during < MOST_HELD, `${during} bytes were held`);
    }
    const upload = slackServer.received.find(({ path }) => path.startsWith('/upload/'));
    assert.deepEqual([upload?.headers['content-length'], upload?.sha256], [String(SIZE), sha256]);
    assert.equal(discordServer.received[0]?.headers['transfer-encoding'], undefined);
    assert.ok(readdirSync(folder).includes(sha256));
  });

  it('is closed when the platform does not take it to its end, and read anew by the next attempt', async (t) => {
    const { file, source } = media(t);
    const { bytes, content } = await source.open(file);

    for await (const chunk of content()) {
      assert.ok(chunk.byteLength > 0 && chunk.byteLength < MOST_HELD);
      break;
    }
    const hash = createHash('sha256');
    for await (const chunk of content()) hash.update(chunk);

    assert.deepEqual([bytes, hash.digest('hex')], [SIZE, file.id]);
    await assert.rejects(source.open({ ...file, id: '0'.repeat(64) }), /not kept here any more/);
  });

  it('that lies on a platform is cut at the limit', async (t) => {
    const { source, there, given, folder } = media(t, SIZE / 2);
    const before = readdirSync(folder);

    await assert.rejects(source.open(there), { code: 'file_too_large' });
    assert.ok(given() <= SIZE / 2 + 2 * CHUNK, `${given()} bytes were read`);
    assert.deepEqual(readdirSync(folder), before, 'nothing of it stays');
    await assert.rejects(source.open({ ...there, bytes: SIZE / 2 + 1 }), { code: 'file_too_large' });
    assert.ok(given() <= SIZE / 2 + 2 * CHUNK, 'one that is said to be larger is not asked for');
  });
});

/** Bytes that are held while somebody has them. */
function heldWhole(whole: Uint8Array): number {
  const held = heldBytes();
  return whole.byteLength > 0 ? held : 0;
}

const postOf = (conversation: string, ...files: readonly FileRef[]) =>
  ({ kind: 'post', key: 'k', conversation, text: '', buttons: [], files }) as const;

async function slackAt(t: TestContext) {
  const platform = await holdingServer(t, (path) => {
    if (path.includes('getUploadURLExternal'))
      return { ok: true, upload_url: `${platform.url}/upload/v1/F1`, file_id: 'F1' };
    return path.includes('files.info') ? { ok: true, file: { shares: {} } } : { ok: true, files: [{ id: 'F1' }] };
  });
  const account = {
    token: secret('xoxb-1'),
    mode: 'http' as const,
    secrets: [],
    bots: false,
    apiUrl: `${platform.url}/api/`,
  };
  return { platform, account };
}

const discordAt = ({ url }: HoldingServer) => ({
  token: secret('a.b.c'),
  applicationId: '1',
  mode: 'gateway' as const,
  publicKeys: [],
  intents: [],
  events: [],
  bots: false,
  apiUrl: `${url}/api`,
});

/** A file in a media folder, and a link that reads from it as the host's does. */
function media(t: TestContext, limit = 2 * SIZE) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-media-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const chunk = randomBytes(CHUNK);
  const bytes = Buffer.concat(Array.from({ length: SIZE / chunk.length }, () => chunk));
  const id = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(folder, id), bytes);
  const file: FileRef = { id, name: 'large.bin', mime: 'application/octet-stream', bytes: SIZE };
  const core = {
    clock: { now: () => 0 },
    reader: { first: async () => undefined },
    writer: { commit: async () => ({ kind: 'committed', rows: [] }) },
  };
  let given = 0;
  const source = new FileSource({
    store: new MediaFolder(core as never, folder),
    limit: () => limit,
    room: () => {},
    fetch: async () => {
      let left = SIZE / chunk.length;
      return new ReadableStream({
        pull(controller) {
          if (left-- <= 0) return controller.close();
          given += CHUNK;
          controller.enqueue(Uint8Array.from(chunk));
        },
      });
    },
  });
  const there: FileRef = { id: 'root/test:test|there', name: 'there', mime: 'text/plain', bytes: 0 };
  const link = <A>(account: A) => {
    const base = adapterLink(account);
    t.after(() => base.stop());
    return Object.assign(Object.create(base) as typeof base, {
      openFile: (wanted: FileRef) => source.open(wanted),
      readFile: (wanted: FileRef) => source.read(wanted),
    });
  };
  return { link, file, source, there, sha256: id, folder, given: () => given };
}
