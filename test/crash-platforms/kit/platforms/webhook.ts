// A platform that speaks Standard Webhooks: its id is the key of a send, under which a repeat shows nothing new.
import { randomBytes, randomUUID } from 'node:crypto';
import { WebhookPlatform } from '../../../support/fake-platforms/webhook-platform.ts';
import { grown, type OpenPlatform, type Platform, push } from '../platform.ts';

const ACCOUNT = 'shop';

export const webhook: Platform = {
  name: 'webhook',
  repeats: 'key',
  mostOwed: 20,
  conversations: 6,
  async open(t): Promise<OpenPlatform> {
    const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`);
    await platform.listen(t);
    return {
      slot: 'webhook',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      account: { id: ACCOUNT, url: platform.url(ACCOUNT), secrets: ['${HOOK_SECRET}'] },
      env: { HOOK_SECRET: platform.secret },
      deliver({ text, conversation }, to) {
        const id = `evt_${randomUUID()}`;
        const payload = { conversation: { id: `c${conversation}` }, user: { id: 'ann' }, text };
        return push(() => ({ path: `/webhooks/webhook/${ACCOUNT}`, ...platform.sign(id, payload) }), to);
      },
      answers: grown(
        () => platform.posts.size,
        () => [...platform.posts.values()].map(({ text }) => text),
      ),
    };
  },
};
