// echo: repeats the text literally. Markup and mentions in it have no effect.
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
