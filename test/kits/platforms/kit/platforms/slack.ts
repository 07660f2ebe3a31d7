// Slack, by its Events API and over Socket Mode. An event comes again until it is acknowledged. Slack knows no keys of sends: svc looks for a
// post by its metadata before it repeats it.

import { BLOCK_ACTIONS } from '../../../../support/accounts/slack-examples.ts';
import { FakeSlack } from '../../../../support/fake-platforms/slack.ts';
import type { Cleanup } from '../../../../support/temporary-project.ts';
import type { Shown } from '../extras.ts';
import { acknowledgedWhen, type Line, type OpenPlatform, type Platform, push, slows } from '../platform.ts';

/** Slack takes one message a second in a channel. */
const COMMON = {
  repeats: 'search',
  // They are posted by another call, which takes no mark.
  filesRepeat: true,
  mostOwed: 10,
  conversations: 6,
  extras: ['edited', 'split', 'file', 'button', 'reacted', 'given'],
} as const;

export const slackEvents: Platform = {
  ...COMMON,
  name: 'slack, Events API',
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
      press(line, to) {
        const body = new URLSearchParams({ payload: JSON.stringify(pressOf(slack, line)) }).toString();
        const make = () => ({
          path: '/webhooks/slack/work',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...slack.signed(body) },
          body,
        });
        return push(make, to);
      },
      shown: shownBy(slack),
      answers: answersOf(slack),
      slowed: slows(slack, SHOWS),
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
      async press(line, to) {
        // Slack sends no press again: who hears nothing presses once more.
        for (;;) {
          const before = slack.connections;
          const envelope = slack.push('interactive', pressOf(slack, line));
          await acknowledgedWhen(() => isAcknowledged(envelope) || slack.connections !== before, to);
          if (isAcknowledged(envelope)) return 'acknowledged';
        }
      },
      shown: shownBy(slack),
      answers: answersOf(slack),
      slowed: slows(slack, SHOWS),
      reachedAt(front) {
        slack.front = front;
      },
    };
  },
};

async function workspace(t: Cleanup): Promise<FakeSlack> {
  const slack = await FakeSlack.start(t);
  for (let n = 1; n <= COMMON.conversations; n += 1) slack.workspace.channels.set(channelOf(n), 'open');
  return slack;
}

const SHOWS = /\/(?:chat\.postMessage|files\.completeUploadExternal)$/;
const channelOf = (n: number): string => `C000000${n}`;

/** As a text, or as a file that holds it. */
function lineOf(slack: FakeSlack, { token, text, conversation, extra }: Line): object {
  const channel = channelOf(conversation);
  if (extra !== 'given') return slack.line(text, { channel });
  const [id, name, bytes] = [`F${token}`, `${token}.txt`, Buffer.from(text)];
  slack.workspace.files.set(id, { id, name, bytes });
  const files = [{ id, name, mimetype: 'text/plain', size: bytes.length }];
  return slack.line('', { channel, subtype: 'file_share', files });
}

function pressOf({ workspace: { messages, team } }: FakeSlack, { token }: Line): object {
  const message = messages.find(({ text }) => text.startsWith(`${token} `));
  const value = /"value":"([^"]+)"/.exec(JSON.stringify(message?.blocks))?.[1];
  if (message === undefined || value === undefined) throw new Error('its answer has no button');
  const { channel, ts } = message;
  return {
    ...BLOCK_ACTIONS,
    trigger_id: `1.1.${token}`, // each press has one of its own, by which it is known
    team: { id: team },
    container: { type: 'message', message_ts: ts, channel_id: channel },
    channel: { id: channel },
    message: { ts },
    actions: [{ ...BLOCK_ACTIONS.actions[0], value }],
  };
}

const shownBy =
  ({ workspace }: FakeSlack): (() => readonly Shown[]) =>
  () =>
    workspace.messages.map(({ text, files, reactions }) => ({
      text,
      files: files.map((id) => workspace.files.get(id)?.bytes.toString() ?? ''),
      reactions,
    }));

const answersOf =
  ({ workspace }: FakeSlack): ((from: number) => readonly string[]) =>
  (from) =>
    workspace.messages.slice(from).map(({ text }) => text);
