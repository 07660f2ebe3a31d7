// Loaded before a program: it takes this machine for a Mac.
Object.defineProperty(process, 'platform', { value: 'darwin' });
