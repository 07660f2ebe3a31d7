// Names of GitHub's conversations, threads and messages. Pure.
//
//   conversation  octo/hello#7              an issue or a pull request, which share their numbers
//                 octo/hello/discussions#7  a discussion
//                 octo/hello                the repository: releases, pushes, workflow runs. Receives only
//   message       body                      the text of the issue or pull request itself
//                 discussion:<node id>      the text of a discussion
//                 comment:<id>  review:<id>  review-comment:<id>  discussion-comment:<node id>
//   thread        review-comment:<id>       in a pull request: its first comment
//                 discussion-thread:<id>    in a discussion: its first comment, by the number that replies contain

export interface Place {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly isDiscussion: boolean;
}

/** Undefined for a repository, and for a name that is no conversation of GitHub. */
export function placeOf(conversation: string): Place | undefined {
  const match = /^([\w.-]+)\/([\w.-]+?)(\/discussions)?#([1-9]\d{0,14})$/.exec(conversation);
  const [, owner = '', repo = '', discussions, number] = match ?? [];
  if (match === null || isDots(owner) || isDots(repo)) return undefined;
  return { owner, repo, number: Number(number), isDiscussion: discussions !== undefined };
}

/** A path segment `.` or `..`, which would change the API's path. */
const isDots = (name: string): boolean => /^\.{1,2}$/.test(name);

export type MessageName =
  | { readonly kind: 'body' }
  | { readonly kind: 'comment' | 'review' | 'review-comment' | 'discussion-thread'; readonly id: number }
  | { readonly kind: 'discussion' | 'discussion-comment'; readonly node: string };

/** Reads the name of a message or thread. Undefined if the name has another form. */
export function messageNameOf(name: string): MessageName | undefined {
  if (name === 'body') return { kind: 'body' };
  const [, kind = '', id = ''] = /^([a-z-]+):([\w=-]{1,200})$/.exec(name) ?? [];
  switch (kind) {
    case 'comment':
    case 'review':
    case 'review-comment':
    case 'discussion-thread':
      return /^[1-9]\d{0,15}$/.test(id) ? { kind, id: Number(id) } : undefined;
    case 'discussion':
    case 'discussion-comment':
      return { kind, node: id };
    default:
      return undefined;
  }
}
