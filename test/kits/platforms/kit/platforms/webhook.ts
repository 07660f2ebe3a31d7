// A platform that speaks Standard Webhooks: its id is the key of a send, under which a repeat shows nothing new.
import { randomBytes, randomUUID } from 'node:crypto';
import { type ShownPost, WebhookPlatform } from '../../../../support/fake-platforms/webhook-platform.ts';
import type { Shown } from '../extras.ts';
import { Links } from '../links.ts';
import { grown, type Line, type OpenPlatform, type Platform, push, slows } from '../platform.ts';

const ACCOUNT = 'shop';

export const webhook: Platform = {
  name: 'webhook',
  extras: ['edited', 'file', 'button', 'reacted'],
  repeats: 'key',
  mostOwed: 20,
  conversations: 6,
  async open(t): Promise<OpenPlatform> {
    const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`);
    await platform.listen(t);
    const links = new Links();
    const posts = (): readonly ShownPost[] => [...platform.posts.values()];
    const said = (): readonly ShownPost[] => posts().filter(({ type }) => type === 'post');
    const deliver = ({ conversation }: Line, more: object) => {
      const id = `evt_${randomUUID()}`;
      const payload = { conversation: { id: `c${conversation}` }, user: { id: 'ann' }, ...more };
      return () => ({ path: `/webhooks/webhook/${ACCOUNT}`, ...platform.sign(id, payload) });
    };
    return {
      slot: 'webhook',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      account: { id: ACCOUNT, url: platform.url(ACCOUNT), secrets: ['${HOOK_SECRET}'] },
      env: { HOOK_SECRET: platform.secret },
      deliver: (line, to) => push(deliver(line, { text: line.text }), to),
      press(line, to) {
        const answer = said().find(({ text }) => text.startsWith(`${line.token} `));
        const [button] = answer?.buttons ?? [];
        if (answer === undefined || button === undefined) throw new Error('its answer has no button');
        return push(deliver(line, { type: 'pressed', message: answer.message, token: button.token }), to);
      },
      answers: grown(
        () => platform.posts.size,
        () => said().map(({ text }) => text),
      ),
      slowed: slows(platform, /^POST/),
      finish: (to) => links.open(said().map(addressesIn), to),
      shown: () =>
        said().map((post): Shown => {
          const { message, text } = post;
          const later = posts().filter((one) => one.type !== 'post' && one.message === message);
          const edits = later.filter(({ type }) => type === 'edit');
          const reactions = later.flatMap(({ emoji }) => emoji ?? []);
          return { text: edits.at(-1)?.text ?? text, files: links.filesOf(addressesIn(post)), reactions };
        }),
    };
  },
};

/** Of its files. */
const addressesIn = ({ files }: ShownPost): string => files.map(({ url }) => url).join(' ');
