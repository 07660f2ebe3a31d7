// Slack, by its Events API and over Socket Mode. An event comes again until it is acknowledged. Slack knows no keys of sends: svc looks for a
// post by its metadata before it repeats it.
import { FakeSlack } from '../../../support/fake-platforms/slack.ts';
import { BLOCK_ACTIONS } from '../../../support/slack-examples.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import { acknowledgedWhen, type Line, type OpenPlatform, type Platform, push } from '../platform.ts';

/** Slack takes one message a second in a channel. */
const COMMON = { repeats: 'search', mostOwed: 10, conversations: 6 } as const;

export const slackEvents: Platform = {
  ...COMMON,
  name: 'slack, Events API',
  extras: ['edited', 'split', 'button'],
  async open(t): Promise<OpenPlatform> {
    const slack = await workspace(t);
    return {
      slot: 'slack',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
      account: { id: 'work', token: '${SLACK_WORK}', secrets: ['${SLACK_SIGNING}'], apiUrl: slack.apiUrl },
      env: { SLACK_WORK: slack.botToken, SLACK_SIGNING: slack.signingSecret },
      deliver(line, to) {
        const body = JSON.stringify(lineOf(slack, line));
        const make = () => ({
          path: '/webhooks/slack/work',
          headers: { 'content-type': 'application/json', ...slack.signed(body) },
          body,
        });
        return push(make, to);
      },
      press({ token }, to) {
        const message = slack.workspace.messages.find(({ text }) => text.startsWith(`${token} `));
        const value = /"value":"([^"]+)"/.exec(JSON.stringify(message?.blocks))?.[1];
        if (message === undefined || value === undefined) throw new Error('its answer has no button');
        const { channel, ts } = message;
        const press = {
          ...BLOCK_ACTIONS,
          trigger_id: `1.1.${token}`, // each press has one of its own, by which it is known
          team: { id: slack.workspace.team },
          container: { type: 'message', message_ts: ts, channel_id: channel },
          channel: { id: channel },
          message: { ts },
          actions: [{ ...BLOCK_ACTIONS.actions[0], value }],
        };
        const body = new URLSearchParams({ payload: JSON.stringify(press) }).toString();
        const make = () => ({
          path: '/webhooks/slack/work',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...slack.signed(body) },
          body,
        });
        return push(make, to);
      },
      shown: () => slack.workspace.messages.map(({ text }) => ({ text })),
      answers: answersOf(slack),
    };
  },
};

export const slackSocket: Platform = {
  ...COMMON,
  name: 'slack, Socket Mode',
  async open(t): Promise<OpenPlatform> {
    const slack = await workspace(t);
    const acknowledged = new Set<string>();
    let read = 0;
    const isAcknowledged = (envelope: string): boolean => {
      for (const one of slack.acknowledged.slice(read)) acknowledged.add(one);
      read = slack.acknowledged.length;
      return acknowledged.has(envelope);
    };
    return {
      slot: 'slack',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
      account: { id: 'lab', mode: 'socket', token: '${SLACK_LAB}', appToken: '${SLACK_APP}', apiUrl: slack.apiUrl },
      env: { SLACK_LAB: slack.botToken, SLACK_APP: slack.appToken },
      deliver(line, to) {
        const envelope = slack.push('events_api', lineOf(slack, line));
        return acknowledgedWhen(() => isAcknowledged(envelope), to);
      },
      answers: answersOf(slack),
    };
  },
};

async function workspace(t: Cleanup): Promise<FakeSlack> {
  const slack = await FakeSlack.start(t);
  for (let n = 1; n <= COMMON.conversations; n += 1) slack.workspace.channels.set(channelOf(n), 'open');
  return slack;
}

const channelOf = (n: number): string => `C000000${n}`;
const lineOf = (slack: FakeSlack, { text, conversation }: Line): object =>
  slack.line(text, { channel: channelOf(conversation) });

const answersOf =
  ({ workspace }: FakeSlack): ((from: number) => readonly string[]) =>
  (from) =>
    workspace.messages.slice(from).map(({ text }) => text);
