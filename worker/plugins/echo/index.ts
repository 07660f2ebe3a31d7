// echo: says back what was typed, as literal text: nothing in it becomes markup or a mention.
import { definePlugin, t } from '../../sdk/index.ts';

export const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.command(
      'echo',
      { summary: 'Says it back', args: { text: t.rest() }, examples: ['/echo hello'] },
      (_ctx, { text }) => text,
    );
  },
});
