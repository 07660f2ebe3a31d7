// Files that people send, at the whole host, built: to data/media as they come, over a kill, up to the limit, and from nowhere else.
// One host with an account of each platform that hands files out by itself; the platforms' sides are the fakes of the other tests.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ANN } from '../../support/accounts/line-examples.ts';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import {
  elsewhere,
  endlessFile,
  type FileAnswer,
  halfFile,
  promisedFile,
  wholeFile,
} from '../../support/fake-platforms/file-answer.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const READER = `import { createHash } from 'node:crypto';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'reader', setup(p) {
  p.on('message', {}, async (ctx, { files: [file] }) => {
    if (file === undefined) return undefined;
    try {
      const twice = [await ctx.readFile(file), await ctx.readFile(file)];
      return twice.map((bytes) => createHash('sha256').update(bytes).digest('hex')).join(' ');
    } catch (error) {
      return \`failed: \${(error.code ?? '').replaceAll('_', ' ')} \${error.message}\`;
    }
  });
} });
`;
const LIMIT = 1_048_576;
const CHANNEL = '645027906669510999';

/** One platform with its account of the host. */
interface Side {
  readonly name: string;
  giveFile: FileAnswer;
  /** Somebody sends a file. Rejects where it is delivered and not taken. */
  sends(bytes: Buffer): Promise<void>;
  /** What the bot has said. */
  said(): readonly string[];
}

describe('a file that came', { timeout: 590_000 }, () => {
  it('is copied to data/media once, as it comes; the half that a kill leaves goes, and the next attempt has it all', async (t) => {
    const { host, sides, media } = await hostAt(t);
    const bytes = sides.map(() => randomBytes(600_000));
    const held = new Set<string>();
    for (const side of sides) side.giveFile = halfFile(() => held.add(side.name));

    for (const [index, side] of sides.entries()) await side.sends(bytes[index] ?? Buffer.alloc(0));
    await every(sides, host, { what: 'to hand its file out', of: ({ name }) => held.has(name) });
    const isHalf = (name: string): boolean => statSync(join(media, name)).size >= 250_000;
    await until(() => namesIn(media).filter(isHalf).length === sides.length, { what: 'the halves on the disk' });
    await host.stop('SIGKILL');
    const left = namesIn(media);
    const given = new Map<string, number>();
    for (const side of sides)
      side.giveFile = (response, file) => {
        given.set(side.name, (given.get(side.name) ?? 0) + 1);
        wholeFile(response, file);
      };
    await host.start();
    await answers(sides, host, 1);

    assert.ok(left.length === sides.length && left.every((name) => name.endsWith('.tmp')), left.join());
    const digests = bytes.map((one) => createHash('sha256').update(one).digest('hex'));
    for (const [index, side] of sides.entries())
      assert.deepEqual(side.said(), [`${digests[index]} ${digests[index]}`], side.name);
    assert.deepEqual(namesIn(media), digests.toSorted());
    assert.deepEqual(
      bytes.map((one, index) => readFileSync(join(media, digests[index] ?? '')).equals(one)),
      [true, true, true, true],
    );
    assert.deepEqual([...given.values()], [1, 1, 1, 1], 'what is read twice is fetched once');
  });

  it('is refused before it is read where it is said to be too large, and on the way where nobody says it', async (t) => {
    const { host, sides, media } = await hostAt(t);
    const sent = new Map<string, number>();
    const count = (name: string) => (bytes: number) => void sent.set(name, (sent.get(name) ?? 0) + bytes);

    for (const side of sides) {
      side.giveFile = promisedFile(LIMIT + 1);
      await side.sends(Buffer.from('promised'));
    }
    await answers(sides, host, 1);
    for (const side of sides) {
      side.giveFile = endlessFile(count(side.name));
      await side.sends(Buffer.from('endless'));
    }
    await answers(sides, host, 2);

    for (const side of sides) {
      for (const text of side.said())
        assert.match(text, /^failed: file too large .* files\.maxFileBytes, 1048576$/, side.name);
      // What lies in the buffers of the way may have come.
      assert.ok((sent.get(side.name) ?? 0) < 40 * LIMIT, `${side.name}: ${sent.get(side.name)} bytes were taken`);
    }
    assert.deepEqual(namesIn(media), [], 'nothing of them stays');
  });

  it('is fetched from its platform alone: no redirect leads to an address of this machine or network', async (t) => {
    const { host, sides, media } = await hostAt(t);
    let asked = 0;
    const inside = createServer((_, response) => {
      asked += 1;
      response.end('a secret of the network');
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    t.after(() => inside.close());
    const { port } = inside.address() as AddressInfo;

    for (const [n, address] of [`http://127.0.0.1:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`].entries()) {
      for (const side of sides) {
        side.giveFile = elsewhere(address);
        await side.sends(Buffer.from(`redirected ${n}`));
      }
      await answers(sides, host, n + 1);
    }

    for (const side of sides)
      for (const text of side.said()) assert.match(text, /^failed: .* could not be fetched/, side.name);
    assert.deepEqual([asked, namesIn(media)], [0, []]);
  });

  it('leaves alone what is not of svc in its folder', async (t) => {
    const { host, media } = await hostAt(t);
    await host.stop('SIGKILL');
    mkdirSync(media, { recursive: true });
    const half = `${'a'.repeat(64)}.1.tmp`;
    for (const name of [half, 'mine.tmp', 'notes.txt']) writeFileSync(join(media, name), 'x');
    await host.start();
    await until(() => !namesIn(media).includes(half), { what: 'the half to go' });

    assert.deepEqual(namesIn(media), ['mine.tmp', 'notes.txt']);
  });
});

const answers = (sides: readonly Side[], host: RunningHost, count: number): Promise<void> =>
  every(sides, host, { what: `to have ${count} answers`, of: ({ said }) => said().length >= count });

/** Who is waited for in vain is named, with what the host has said meanwhile. */
async function every(
  sides: readonly Side[],
  { output }: RunningHost,
  { what, of }: { readonly what: string; readonly of: (side: Side) => boolean },
): Promise<void> {
  const left = (): readonly string[] => sides.flatMap((side) => (of(side) ? [] : [side.name]));
  await until(() => left().length === 0, { what: `each platform ${what}` }).catch((error: unknown) => {
    throw new Error(`${String(error)}: not ${left().join(', ')}\n${output()}`, { cause: error });
  });
}

async function taken(delivery: Promise<Response>): Promise<void> {
  const answer = await delivery;
  const text = await answer.text();
  if (!answer.ok) throw new Error(`a delivery was answered ${answer.status}: ${text}`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/* biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration */
async function hostAt(
  t: TestContext,
): Promise<{ readonly host: RunningHost; readonly sides: readonly Side[]; readonly media: string }> {
  const telegram = await new FakeTelegram().listen(t);
  const token = telegram.bot(42, 'main_bot');
  const [slack, discord, line] = [await FakeSlack.start(t), await FakeDiscord.start(t), await FakeLine.start(t)];
  slack.workspace.channels.set('C0000001', 'open');
  discord.world.addChannel(CHANNEL);
  const { apiUrl } = discord;
  const lineUrls = { apiUrl: line.url, dataApiUrl: line.url };
  const host = await runningHost(t, {
    config: { files: { maxFileBytes: LIMIT } },
    plugins: {
      telegram: { endpoints: [{ id: 'a', token: '${TELEGRAM}', apiUrl: telegram.url }] },
      slack: { endpoints: [{ id: 'a', token: '${SLACK}', secrets: ['${SIGNING}'], apiUrl: slack.apiUrl }] },
      discord: {
        endpoints: [{ id: 'a', token: '${DISCORD}', applicationId: discord.world.application, apiUrl }],
      },
      line: {
        endpoints: [{ id: 'a', channelAccessToken: '${LINE}', channelSecrets: ['${LINE_SECRET}'], ...lineUrls }],
      },
      reader: { use: './plugins/reader.js' },
    },
    env: {
      TELEGRAM: token,
      SLACK: slack.botToken,
      SIGNING: slack.signingSecret,
      DISCORD: discord.token,
      LINE: line.token,
      LINE_SECRET: line.secret,
    },
    sources: { 'reader.js': READER },
  });
  const sides = [
    telegramSide(telegram, token),
    slackSide(slack, `${host.url}webhooks/slack/a`),
    discordSide(discord),
    lineSide(line, `${host.url}webhooks/line/a`),
  ];
  await until(async () => (await online(host)) === sides.length, { what: 'the accounts to be online' });
  return { host, sides, media: host.project.paths.mediaDir };
}
/* biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration */

async function online(host: RunningHost): Promise<number> {
  const { endpoints } = (await host.get('api/endpoints')) as { endpoints: readonly { readonly state: string }[] };
  return endpoints.filter(({ state }) => state === 'online' || state === 'degraded').length;
}

function telegramSide(telegram: FakeTelegram, token: string): Side {
  let messages = 0;
  const person = { id: 5, is_bot: false, first_name: 'Ann' };
  return {
    name: 'telegram',
    set giveFile(answer: FileAnswer) {
      telegram.giveFile = answer;
    },
    async sends(bytes) {
      const document = { file_id: telegram.chats.holds(bytes), file_unique_id: 'x', file_name: 'a.bin' };
      const chat = { ...person, type: 'private' };
      telegram.happens(token, { message: { message_id: (messages += 1), date: 1, chat, from: person, document } });
    },
    said: () =>
      telegram.calls.filter(({ method }) => method === 'sendMessage').map(({ params }) => String(params['text'])),
  };
}

function slackSide(slack: FakeSlack, url: string): Side {
  const { workspace } = slack;
  return {
    name: 'slack',
    set giveFile(answer: FileAnswer) {
      slack.giveFile = answer;
    },
    sends(bytes) {
      const id = `F${workspace.files.size + 1}`;
      workspace.files.set(id, { id, name: 'a.bin', bytes });
      const files = [{ id, name: 'a.bin', mimetype: 'application/octet-stream', size: bytes.length }];
      return taken(slack.deliver(url, slack.line('', { channel: 'C0000001', subtype: 'file_share', files })));
    },
    said: () => workspace.messages.map(({ text }) => text),
  };
}

function discordSide(discord: FakeDiscord): Side {
  const { world } = discord;
  return {
    name: 'discord',
    set giveFile(answer: FileAnswer) {
      discord.giveFile = answer;
    },
    async sends(bytes) {
      const file = { id: world.snowflake(), filename: 'a.bin', content_type: 'application/octet-stream', bytes };
      discord.says('', { channel: CHANNEL, attachments: [file] });
    },
    said: () => world.messages.filter(({ author }) => author.id === world.bot.id).map(({ content }) => content),
  };
}

function lineSide(line: FakeLine, url: string): Side {
  return {
    name: 'line',
    set giveFile(answer: FileAnswer) {
      line.giveFile = answer;
    },
    sends(bytes) {
      const minted = line.channel.mint(ANN);
      line.keep(minted.id, bytes, { type: 'application/octet-stream' });
      const message = { ...minted, type: 'file', fileName: 'a.bin', fileSize: bytes.length };
      return taken(line.deliver(url, line.event({ type: 'message', source: { type: 'user', userId: ANN }, message })));
    },
    said: () => line.channel.messages.map(({ content }) => String(content['text'])),
  };
}
