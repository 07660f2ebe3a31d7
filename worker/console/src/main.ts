// The chat page: signs in, shows the conversation, and returns to the sign-in form when the token is refused.
import { apiClient } from './api-client.ts';
import { ChatScreen } from './chat-screen.ts';
import { Session } from './session.ts';
import { signInScreen } from './sign-in-screen.ts';

function start(root: HTMLElement): void {
  const session = new Session(sessionStorage);
  const api = apiClient(new URL('./', document.baseURI), () => session.token);
  let person = session.current?.person ?? 'me';

  const showChat = (draft: string): void => {
    person = session.current?.person ?? person;
    const onSignedOut = (notice: string | undefined, unsent: string): void => {
      session.signOut();
      showSignIn(notice, unsent);
    };
    const screen = new ChatScreen({ api, person, draft, token: () => session.token, onSignedOut });
    root.replaceChildren(screen.node);
    screen.focus();
  };

  const showSignIn = (notice: string | undefined, draft: string): void => {
    const screen = signInScreen({
      notice,
      person,
      async signIn(credentials, keep) {
        const answer = await apiClient(api.url(''), () => credentials.token).messages(credentials.person, undefined);
        if (!answer.ok) return answer.fault;
        session.signIn(credentials, { keep });
        showChat(draft);
        return undefined;
      },
    });
    root.replaceChildren(screen);
    screen.querySelector('input')?.focus();
  };

  if (session.current === undefined) showSignIn(undefined, '');
  else showChat('');
}

const root = document.getElementById('app');
if (root !== null) start(root);
