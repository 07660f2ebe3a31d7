// A session of Slack's own framework with the fake over Socket Mode: an event that it answers by a call, a command, a press of a button.
import { App, LogLevel, SocketModeReceiver } from '@slack/bolt';
import { BLOCK_ACTIONS, SIGNED } from '../accounts/slack-examples.ts';
import { FakeSlack } from '../fake-platforms/slack.ts';
import { until } from '../until.ts';
import { nameOf, type Platform, portOf } from './clients.ts';

interface Bot {
  readonly fake: FakeSlack;
  readonly apiUrl?: string;
  /** Waits as long before it opens another socket. */
  readonly againMs?: number;
}

/** A bot that knows who it is; `run` says what it does, and starts it. It is stopped before the platform is: alone it would come back without end. */
export async function withBolt(
  { fake, apiUrl = fake.apiUrl, againMs }: Bot,
  run: (app: App) => Promise<void>,
): Promise<void> {
  const clientOptions = { slackApiUrl: apiUrl };
  const receiver = new SocketModeReceiver({
    appToken: fake.appToken,
    logLevel: LogLevel.ERROR,
    installerOptions: { clientOptions },
    ...(againMs === undefined ? {} : { clientPingTimeout: againMs }),
  });
  const app = new App({ receiver, token: fake.botToken, clientOptions, logLevel: LogLevel.ERROR });
  await until(() => fake.calls.length === 1, { what: 'the bot to know who it is' });
  try {
    await run(app);
  } finally {
    await app.stop();
    await until(() => fake.connections === 0, { what: 'the last socket to be closed' });
  }
}

export const slackSocket: Platform = {
  client: nameOf('@slack/bolt'),
  async start(t) {
    const fake = await FakeSlack.start(t);
    const acknowledged = (count: number): Promise<unknown> =>
      until(() => fake.acknowledged.length === count, { what: 'the acknowledgement' });
    const says = async (app: App): Promise<void> => {
      app.message(/^hello/, async ({ say, payload }) => {
        await acknowledged(1); // so that one comes behind the other, over two connections
        await say({ text: 'hello too', thread_ts: payload.ts });
      });
      app.command('/svc', async ({ ack, command }) => ack(`${command.user_name} said ${command.text}`));
      app.action('WaXA', async ({ ack }) => ack());
      await app.start();
      fake.push('events_api', fake.line('hello bot'));
      await until(() => fake.workspace.messages.length === 1, { what: 'the answer' });
      const command = { ...Object.fromEntries(new URLSearchParams(SIGNED.body)), command: '/svc', text: 'tea & more' };
      fake.push('slash_commands', command);
      await acknowledged(2);
      fake.push('interactive', BLOCK_ACTIONS);
      await acknowledged(3);
    };
    const session = (address: string): Promise<void> =>
      withBolt({ fake, apiUrl: fake.apiUrl.replace(/127\.0\.0\.1:\d+/, address) }, says);
    return { port: portOf(fake.url), known: { bot_token: fake.botToken, app_token: fake.appToken }, session };
  },
};
