// What a post becomes on LINE: texts, mentions, buttons, and the key by which LINE knows a repeat.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messagesOf } from '../../../../worker/adapters/line/messages.ts';
import { retryKeyOf } from '../../../../worker/adapters/line/send.ts';
import { render } from '../../../../worker/adapters/line/text.ts';
import type { Outgoing, Segment } from '../../../../worker/sdk/index.ts';
import { ANN, BEN, GROUP } from '../../../support/accounts/line-examples.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
const mention = (id: string): Segment => ({ kind: 'mention', user: { endpoint: 'root/line:line~a', id } });
const text = (text: string): Segment => ({ kind: 'text', text });
const sent = (segments: readonly Segment[], more: Partial<Post> = {}, told: object = {}) => {
  const post: Post = {
    kind: 'post',
    key: 'k',
    conversation: GROUP,
    text: render({ segments }),
    buttons: [],
    files: [],
    ...more,
  };
  const nameOf = (user: string): string => (user === ANN ? 'Ann' : user);
  return messagesOf(post, {
    quoteToken: undefined,
    mentions: true,
    images: true,
    urlOf: () => undefined,
    nameOf,
    ...told,
  });
};

describe('a post on LINE', () => {
  it('is plain text, with links spelled out and blocks on lines of their own', () => {
    const segments: Segment[] = [
      { kind: 'text', text: 'bold', marks: ['bold'] },
      { kind: 'code', text: 'x = {1}\n' },
      { kind: 'quote', text: 'a\nb' },
      { kind: 'link', text: 'site', url: 'https://example.com/' },
    ];
    assert.deepEqual(sent(segments), [{ type: 'text', text: 'bold\nx = {1}\n> a\n> b\nsite (https://example.com/)' }]);
  });

  it('mentions in groups, and never by literal text', () => {
    assert.deepEqual(
      sent([text(`{${ANN}} {all} {{x}} `), mention(BEN), text(' and '), { kind: 'mention', user: 'everyone' }]),
      [
        {
          type: 'textV2',
          text: `{{${ANN}}} {{all}} {{{{x}}}} {m0} and {m1}`,
          substitution: {
            m0: { type: 'mention', mentionee: { type: 'user', userId: BEN } },
            m1: { type: 'mention', mentionee: { type: 'all' } },
          },
        },
      ],
    );
    assert.deepEqual(sent([text(`{${ANN}} {all}`)]), [{ type: 'text', text: `{${ANN}} {all}` }]);
  });

  it('names people where mentions are not taken', () => {
    const segments = [text('hi {} '), mention(ANN), text(' '), mention('of another platform')];
    const named = [{ type: 'text', text: 'hi {} @Ann @of another platform' }];
    assert.deepEqual(sent(segments, { conversation: BEN }), named);
    assert.deepEqual(sent(segments, {}, { mentions: false }), named);
    const many = Array.from({ length: 21 }, () => mention(ANN));
    assert.match(JSON.stringify(sent(many)), /\{m19\}@Ann"/);
  });

  it('quotes by the token, with the text', () => {
    assert.deepEqual(sent([text('hi')], {}, { quoteToken: 'q' }), [{ type: 'text', text: 'hi', quoteToken: 'q' }]);
  });

  it('has its buttons behind the text, with labels that LINE takes', () => {
    const buttons = [
      { label: 'Yes', token: 'tok-1', style: 'primary' },
      { label: `${'x'.repeat(38)}👋🏽`, token: 'tok-2', style: 'danger' },
      { label: '', token: 'tok-3' },
    ] as const;

    const [first, second, ...others] = sent([text('sure?')], { buttons });

    assert.deepEqual([first, others], [{ type: 'text', text: 'sure?' }, []]);
    const shown = JSON.stringify(second);
    const labels = [...shown.matchAll(/"label":"([^"]*)","data":"([^"]*)"/g)].map(([, label, data]) => [label, data]);
    assert.deepEqual(labels, [
      ['Yes', 'svc:tok-1'],
      [`${'x'.repeat(38)}…`, 'svc:tok-2'],
      ['…', 'svc:tok-3'],
    ]);
    assert.deepEqual(
      sent([], { buttons: [buttons[0]] }).map(({ type }) => type),
      ['flex'],
    );
  });

  it('has a retry key that is a UUID, the same for the same send', () => {
    const keys = ['k1', 'k1', 'k2', '01920000-0000-7000-8000-000000000000/3'].map(retryKeyOf);
    for (const key of keys) assert.match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(new Set(keys).size, 3);
  });
});
