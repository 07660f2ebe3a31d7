// GitHub's eight reactions, by emoji and by GitHub's names. Pure.

export type Reaction = '+1' | '-1' | 'laugh' | 'confused' | 'heart' | 'hooray' | 'rocket' | 'eyes';
type GraphqlReaction = 'THUMBS_UP' | 'THUMBS_DOWN' | 'LAUGH' | 'CONFUSED' | 'HEART' | 'HOORAY' | 'ROCKET' | 'EYES';

const REACTIONS: Readonly<Record<Reaction, { readonly emoji: string; readonly graphql: GraphqlReaction }>> = {
  '+1': { emoji: '👍', graphql: 'THUMBS_UP' },
  '-1': { emoji: '👎', graphql: 'THUMBS_DOWN' },
  laugh: { emoji: '😄', graphql: 'LAUGH' },
  confused: { emoji: '😕', graphql: 'CONFUSED' },
  heart: { emoji: '❤', graphql: 'HEART' },
  hooray: { emoji: '🎉', graphql: 'HOORAY' },
  rocket: { emoji: '🚀', graphql: 'ROCKET' },
  eyes: { emoji: '👀', graphql: 'EYES' },
};

/** Undefined if GitHub has no such reaction. Ignores variation selectors and skin tones. */
export function reactionOf(emoji: string): Reaction | undefined {
  const plain = emoji.replaceAll(/\u{fe0f}|\p{Emoji_Modifier}|^:|:$/gu, '');
  return (Object.keys(REACTIONS) as Reaction[]).find((name) => name === plain || REACTIONS[name].emoji === plain);
}

export const graphqlReaction = (reaction: Reaction): GraphqlReaction => REACTIONS[reaction].graphql;
export const ALL_REACTIONS: string = Object.values(REACTIONS)
  .map(({ emoji }) => emoji)
  .join(' ');
