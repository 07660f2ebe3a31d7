// A process of its own for the platforms that the host answers on, so that what they cost is not charged to who sends the load. It says
// where they are and what they sign with. `bare`: a server that reads what it is sent and answers 200.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import { FakeGithub } from '../../support/fake-platforms/github.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { WebhookPlatform } from '../../support/fake-platforms/webhook-platform.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { ACCOUNTS, CONVERSATIONS, discordChannel, GITHUB_REPOSITORY, slackChannel } from '../platform-deliveries.ts';

export interface Addresses {
  readonly telegram: { readonly url: string; readonly tokens: readonly string[] };
  readonly slack: { readonly url: string; readonly token: string; readonly secret: string };
  readonly github: { readonly url: string; readonly token: string };
  readonly discord: { readonly url: string; readonly token: string; readonly application: string };
  readonly webhook: { readonly url: string; readonly secret: string };
  readonly line: { readonly url: string; readonly token: string; readonly secret: string };
}

const GITHUB_TOKEN = 'ghp_TokenOfTheBot0123456789';

/** One of each, until the owner ends them. */
export async function startFakes(t: Cleanup): Promise<Addresses> {
  const telegram = await new FakeTelegram().listen(t);
  const tokens = Array.from({ length: ACCOUNTS }, (_, n) => telegram.bot(100 + n, `bot_${n}_bot`));
  const slack = await FakeSlack.start(t);
  for (let n = 0; n < CONVERSATIONS; n += 1) slack.workspace.channels.set(slackChannel(n), 'open');
  const github = await new FakeGithub({ [GITHUB_TOKEN]: 'helper-bot' }).start(t);
  github.remaining = Number.MAX_SAFE_INTEGER;
  for (let n = 0; n < CONVERSATIONS; n += 1) github.data.open(GITHUB_REPOSITORY, 1 + n);
  const discord = await FakeDiscord.start(t);
  discord.world.isDeferredElsewhere = true;
  for (let n = 0; n < CONVERSATIONS; n += 1) discord.world.addChannel(discordChannel(n));
  const webhook = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`);
  await webhook.listen(t);
  const line = await FakeLine.start(t);
  return {
    telegram: { url: telegram.url, tokens },
    slack: { url: slack.apiUrl, token: slack.botToken, secret: slack.signingSecret },
    github: { url: github.url, token: GITHUB_TOKEN },
    discord: { url: discord.apiUrl, token: discord.token, application: discord.world.application },
    webhook: { url: webhook.url('bot'), secret: webhook.secret },
    line: { url: line.url, token: line.token, secret: line.secret },
  };
}

function serveBare(): void {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200).end());
  }).listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : 0);
  });
}

if (process.argv[2] === 'bare') serveBare();
// The process ends as a whole.
else if (process.argv[2] === 'fakes') process.send?.(await startFakes({ after: () => {} }));
