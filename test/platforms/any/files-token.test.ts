// Files that people send, asked for with a token that the platform does not take: nothing comes, and no error tells the token.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { account as discordKeys } from '../../../worker/adapters/discord/config.ts';
import { discord } from '../../../worker/adapters/discord/index.ts';
import { account as lineKeys } from '../../../worker/adapters/line/config.ts';
import { line } from '../../../worker/adapters/line/index.ts';
import { account as slackKeys } from '../../../worker/adapters/slack/config.ts';
import { slack } from '../../../worker/adapters/slack/index.ts';
import { account as telegramKeys } from '../../../worker/adapters/telegram/config.ts';
import { telegram } from '../../../worker/adapters/telegram/index.ts';
import type { FileRef } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';

const WRONG = '99:a-token-that-nobody-has-given';
const fileAt = (id: string): FileRef => ({ id, name: 'a.bin', mime: 'application/octet-stream', bytes: 5 });

/** What the attempt ends with. */
async function failure(fetching: Promise<unknown> | undefined): Promise<string> {
  const end = await Promise.resolve(fetching).then(
    () => 'it came',
    (error: Error) => `${error.name} ${error.message} ${error.stack} ${String(error.cause ?? '')}`,
  );
  assert.ok(!end.includes(WRONG), end);
  return end;
}

function linkAt<A>(t: TestContext, account: A) {
  const link = adapterLink(account);
  t.after(() => link.stop());
  return link;
}

describe('a file that came, and a wrong token', () => {
  it('is not handed out by Telegram', async (t) => {
    const platform = await new FakeTelegram().listen(t);
    platform.bot(42, 'main_bot');
    const id = platform.chats.holds(Buffer.from('bytes'));
    const link = linkAt(t, { token: secret(WRONG), mode: 'polling' as const, secrets: [], apiUrl: platform.url });

    assert.match(await failure(definitionOf(telegram, telegramKeys).fetchFile?.(fileAt(id), link)), /401|Unauthorized/);
  });

  it('is not handed out by Slack, neither its address nor, where that is known, its bytes', async (t) => {
    const platform = await FakeSlack.start(t);
    platform.workspace.files.set('F1', { id: 'F1', name: 'a.bin', bytes: Buffer.from('bytes') });
    const { apiUrl } = platform;
    const account = { token: secret(WRONG), mode: 'http' as const, secrets: [], bots: false, apiUrl };
    const { fetchFile } = definitionOf(slack, slackKeys);
    const link = linkAt(t, account);

    const refused = await failure(fetchFile?.(fileAt('F1'), link));
    const found = { ok: true, file: { url_private_download: `${platform.url}/files-pri/T-F1/a.bin` } };
    platform.next('files.info', { status: 200, body: JSON.stringify(found) });
    const page = await failure(fetchFile?.(fileAt('F1'), link));

    assert.match(refused, /invalid_auth|not_authed/);
    assert.match(page, /answered with a page: the app needs the scope files:read/);
  });

  it('is not handed out by Discord', async (t) => {
    const platform = await FakeDiscord.start(t);
    const { world } = platform;
    const file = { id: world.snowflake(), filename: 'a.bin', content_type: 'x/y', bytes: Buffer.from('bytes') };
    const { channel_id: channel, id } = platform.says('', { attachments: [file] });
    const account = {
      token: secret(WRONG),
      applicationId: world.application,
      mode: 'gateway' as const,
      publicKeys: [],
      intents: [],
      events: [],
      bots: false,
      apiUrl: platform.apiUrl,
    };
    const fetching = definitionOf(discord, discordKeys).fetchFile?.(
      fileAt(`${channel}/${id}/${file.id}`),
      linkAt(t, account),
    );

    assert.match(await failure(fetching), /401/);
  });

  it('is not handed out by LINE', async (t) => {
    const platform = await FakeLine.start(t);
    platform.keep('123', Buffer.from('bytes'));
    const account = {
      channelAccessToken: secret(WRONG),
      channelSecrets: [],
      apiUrl: platform.url,
      dataApiUrl: platform.url,
    };

    const fetching = definitionOf(line, lineKeys).fetchFile?.(fileAt('123'), linkAt(t, account as never));
    assert.match(await failure(fetching), /LINE answered 401/);
  });
});
