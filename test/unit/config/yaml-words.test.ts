// What is said of a file that YAML reads otherwise than it was meant.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf, loadText } from '../../support/load-text.ts';

const HTTP = 'http:\n  token: ${HTTP_TOKEN}\n';
const HASH = 'here # begins a comment; a text that begins with # is written in quotes';

describe('YAML that was meant otherwise', () => {
  for (const [name, text, told] of [
    ['a channel in brackets', 'channels: [#dev]', `5:16 is not valid YAML: ${HASH}`],
    ['a channel in brackets, behind a blank', 'channels: [ #dev ]\n    nick: x', `5:17 is not valid YAML: ${HASH}`],
    ['a second channel in brackets', 'channels: ["#b",#dev]', `5:21 is not valid YAML: ${HASH}`],
    ['a channel in braces', 'inner: {channel: #dev}', `5:22 is not valid YAML: ${HASH}`],
    ['a channel in a list', 'channels:\n      - #dev', `6:9 plugins.irc.channels[0] is empty: ${HASH}`],
    [
      'a mark in front',
      'nick: @bot',
      '5:11 is not valid YAML: Plain value cannot start with reserved character @; a text that begins with @ is written in quotes',
    ],
    [
      'a star',
      'nick: *bot',
      '5:11 refers to an anchor that does not exist; a text that begins with * is written in quotes',
    ],
    [
      'an exclamation mark',
      'nick: !bot',
      '5:11 YAML tags are not taken; a text that begins with ! is written in quotes',
    ],
    [
      'a colon',
      'nick: now: then',
      '5:11 is not valid YAML: Nested mappings are not allowed in compact mappings; a text with a colon and a blank in it is written in quotes',
    ],
    [
      'quotes',
      "nick: 'it's'",
      '5:15 is not valid YAML: Unexpected scalar at node end; a text with quotes in it is written in the other kind of quotes',
    ],
    ['a tab', '\n\tnick: a', '6:1 is not valid YAML: this line is indented with a tab; YAML takes blanks alone'],
    [
      'two tabs',
      '\n\tnick: a\n\tserver: b',
      '6:1 is not valid YAML: this line is indented with a tab, as is one more; YAML takes blanks alone',
    ],
    [
      'tabs all over',
      '\n\tnick: a\n\tserver: b\n\tlist: [#x]',
      '6:1 is not valid YAML: this line is indented with a tab, as are 2 more; YAML takes blanks alone',
    ],
  ] as const)
    it(`is one fault, with what to write: ${name}`, (t) => {
      const { error } = faultsOf(() => loadText(t, `${HTTP}plugins:\n  irc:\n    ${text}\n`));

      assert.equal(error.message, `svc.config.yml:${told}`);
    });

  it('is warned of where a key is left empty by it', (t) => {
    const { warnings } = loadText(
      t,
      `${HTTP}host:\n  name: #dev\nplugins:\n  irc:\n    channels: #dev\n    nick: &bot\n`,
    );

    assert.deepEqual(
      warnings.map((line) => line.split(';')[0]),
      [
        'svc.config.yml:4:3 host.name is empty: here # begins a comment',
        'svc.config.yml:7:5 plugins.irc.channels is empty: here # begins a comment',
        'svc.config.yml:8:5 plugins.irc.nick is empty: here & begins an anchor',
      ],
    );
  });

  it('is not seen in a comment behind a group, a value or an empty key', (t) => {
    const { warnings } = loadText(t, `${HTTP}plugins: #mine\n  irc: # the chat\n    nick: a #b\n  help: ## no\n`);

    assert.deepEqual(warnings, []);
  });
});

describe('a value of the wrong type', () => {
  for (const [text, told] of [
    ['supervisor: { standby: no }', '3:15 supervisor.standby must be true or false, not no; did you mean false?'],
    ['supervisor: { standby: "On" }', '3:15 supervisor.standby must be true or false, not On; did you mean true?'],
    ['supervisor: { standby: 1 }', '3:15 supervisor.standby must be true or false, not 1; did you mean true?'],
    ['supervisor: { standby: perhaps }', '3:15 supervisor.standby must be true or false, not perhaps'],
    [
      'supervisor: { restarts: "5" }',
      '3:15 supervisor.restarts must be an integer from 1 to 100, not the text "5"; did you mean 5?',
    ],
    [
      'supervisor: { restarts: "500" }',
      '3:15 supervisor.restarts must be an integer from 1 to 100, not the text "500"',
    ],
    [
      'disk: { minFreeBytes: 1 GiB }',
      '3:9 disk.minFreeBytes must be an integer from 0 to 17592186044416, not "1 GiB"; did you mean 1073741824?',
    ],
    [
      'disk: { minFreeBytes: 1.5GB }',
      '3:9 disk.minFreeBytes must be an integer from 0 to 17592186044416, not 1.5GB; did you mean 1500000000?',
    ],
  ] as const)
    it(`comes with the one that was meant: ${text}`, (t) => {
      assert.equal(faultsOf(() => loadText(t, `${HTTP}${text}\n`)).error.message, `svc.config.yml:${told}`);
    });
});

describe('a key that stands elsewhere', () => {
  for (const [text, meant] of [
    ['timezone: UTC', 'schedule.timezone'],
    ['port: 80', 'http.port'],
    ['endpoints: [{ owner: root/irc, name: irc }]', 'http.readiness.endpoints'],
    ['agents: { main: { provider: x } }', undefined],
    ['agents: []', undefined],
    ['endpoints: [{ id: main }]', undefined],
  ] as const)
    it(`is named where its value fits: ${text}`, (t) => {
      const { message } = faultsOf(() => loadText(t, `${HTTP}${text}\n`)).error;

      assert.equal(/did you mean (.+)\?/.exec(message)?.[1], meant);
      if (meant === undefined) assert.match(message, /is not a key here; known are log_level, host, http, /);
    });
});
