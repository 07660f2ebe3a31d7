// "Did you mean", for plugins that come with svc.
export { nearest } from '../../../shared/config/nearest.ts';
