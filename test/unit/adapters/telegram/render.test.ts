// Links on Telegram: which become one there, and how the others are read.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderHtml } from '../../../../worker/adapters/telegram/render.ts';

const link = (text: string, url: string): string => renderHtml({ segments: [{ kind: 'link', text, url }] });

describe('links (Telegram)', () => {
  it('are those that Telegram takes, whatever stands behind the host', () => {
    for (const url of [
      'https://x.example/a?b=c',
      'http://10.0.0.7:8080',
      'https://ann@x.example#top',
      'http://[2001:db8::1]/',
      'tg://resolve?domain=svc',
    ])
      assert.equal(link('here', url), `<a href="${url}">here</a>`);
  });

  it('are readable where Telegram leaves the address out: a host without a dot, another scheme', () => {
    assert.equal(link('the wiki', 'http://intranet/wiki'), 'the wiki (http://intranet/wiki)');
    assert.equal(link('here', 'http://localhost:8080/x.html'), 'here (http://localhost:8080/x.html)');
    assert.equal(link('here', 'javascript:alert(1)'), 'here (javascript:alert(1))');
    assert.equal(link('http://intranet', 'http://intranet'), 'http://intranet');
  });

  it('to a person or a number are what Telegram itself knows as one: it makes http://mailto:ann@… of the first, nothing of the other', () => {
    assert.equal(link('write to Ann', 'mailto:ann@x.example'), 'write to Ann (ann@x.example)');
    assert.equal(link('ann@x.example', 'mailto:ann@x.example'), 'ann@x.example');
    assert.equal(link('call us', 'tel:+4930123456'), 'call us (+4930123456)');
    assert.equal(link('', 'tel:+4930123456'), '+4930123456');
  });
});
