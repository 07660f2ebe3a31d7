// jobs: says what scheduled jobs say. The host adds this plugin by itself, in a slot that no configuration names.
import { definePlugin, t } from '../../sdk/index.ts';

export const jobs = definePlugin({
  name: 'jobs',
  setup(p) {
    p.task('say', { data: { to: t.conversation(), text: t.string() } }, (ctx, { to, text }) => {
      ctx.send(to, text);
    });
  },
});
