// The form for token and name. Every wrong token gets the same message, with the request id for a search in the host's log.
import type { Fault } from './api-client.ts';
import { element } from './elements.ts';
import type { Credentials } from './session.ts';

export interface SignInOptions {
  /** Reason for the return to this form, if any. */
  readonly notice: string | undefined;
  readonly person: string;
  /** Resolves with the fault, or undefined if the sign-in succeeded. */
  readonly signIn: (credentials: Credentials, keep: boolean) => Promise<Fault | undefined>;
}

const TOKEN = /^[A-Za-z0-9._~+/-]{1,512}=*$/;

export function signInScreen({ notice, person, signIn }: SignInOptions): HTMLElement {
  const token = element('input', {
    attributes: { type: 'password', name: 'token', required: true, autocomplete: 'off', spellcheck: 'false' },
  });
  const name = element('input', {
    attributes: { type: 'text', name: 'person', required: true, maxlength: '64', autocomplete: 'nickname' },
  });
  const keep = element('input', { attributes: { type: 'checkbox', name: 'keep' } });
  const fault = element('p', { class: 'fault', text: notice ?? '', attributes: { role: 'alert' } });
  const submit = element('button', { class: 'main', text: 'Sign in', attributes: { type: 'submit' } });
  name.value = person;

  const form = element('form', { attributes: { novalidate: true } }, [
    element('label', {}, ['Token', token]),
    element('p', { class: 'hint' }, [
      'The full-scope token of this host: ',
      element('code', { text: 'HTTP_TOKEN' }),
      ' in its ',
      element('code', { text: '.env' }),
      '.',
    ]),
    element('label', {}, ['Your name', name]),
    element('label', { class: 'check' }, [keep, 'Stay signed in until this tab is closed']),
    fault,
    submit,
  ]);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const credentials = { token: token.value.trim(), person: name.value.trim() };
    if (credentials.person === '') return refuse('Please give a name.', name);
    if (!TOKEN.test(credentials.token)) return refuse('This token was not accepted.', token);
    submit.disabled = true;
    fault.textContent = '';
    void signIn(credentials, keep.checked).then((wrong) => {
      submit.disabled = false;
      if (wrong !== undefined) refuse(messageOf(wrong), token);
    });
  });
  const refuse = (message: string, field: HTMLInputElement): void => {
    fault.textContent = message;
    field.focus();
  };
  return element('main', { class: 'screen sign-in' }, [element('h1', { text: 'Chat with this bot' }), form]);
}

/** Message about a fault for the person at the page. */
export function messageOf({ status, title, requestId, retryAfterMs }: Fault): string {
  const reference = requestId === undefined ? '' : ` (request ${requestId})`;
  if (status === 400 || status === 401) return `This token was not accepted${reference}.`;
  if (status === 403) return `This token may only read; chatting needs the full-scope token${reference}.`;
  if (status === 404)
    return 'This host has no sandbox, so there is nobody to chat with: add plugins.sandbox to svc.config.yml.';
  if (status === 429)
    return `Too many tries. Please wait${retryAfterMs === undefined ? '' : ` ${Math.ceil(retryAfterMs / 1_000)} s`}.`;
  return `${title}${reference}.`;
}
