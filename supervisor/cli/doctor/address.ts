// Host addresses given to `svc doctor`: without credentials, and whether a token may be sent there.
import { isLoopbackHost } from '../../../shared/ip-address.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** The address without hash and trailing slash. Throws `usage`. */
export function hostAddress(option: string, url: string): URL {
  let target: URL;
  try {
    target = new URL(url);
  } catch (error) {
    throw new SvcError('usage', `${option} needs an address like https://host/base, not '${url.slice(0, 80)}'`, {
      cause: error,
    });
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:')
    throw new SvcError('usage', `${option} needs an http or https address`);
  if (target.username !== '' || target.password !== '' || target.search !== '')
    throw new SvcError('usage', `${option} takes no credentials or query: the token comes from SVC_HTTP_TOKEN`);
  target.hash = '';
  target.pathname = target.pathname.replace(/\/+$/, '');
  return target;
}

/** Over plain HTTP a token goes to loopback only, unless `insecureHttp` is set. */
export const maySendToken = ({ protocol, hostname }: URL, insecureHttp: boolean): boolean =>
  protocol === 'https:' || insecureHttp || isLoopbackHost(hostname);
