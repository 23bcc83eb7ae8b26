"""A process that hosts agents: it starts what it is told to, as its own children.

A request is its length in eight bytes and JSON, with three file descriptors; the
answer is the process id on one line and, when it has ended, its exit code."""
import array, json, os, socket, struct, subprocess, sys, threading


def serve(connection):
    data, descriptors = b"", []
    while len(data) < 8 or len(data) < 8 + struct.unpack(">Q", data[:8])[0]:
        piece, ancillary, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * 4))
        if not piece:
            return
        data += piece
        for _, _, raw in ancillary:
            numbers = array.array("i")
            numbers.frombytes(raw[: len(raw) - len(raw) % numbers.itemsize])
            descriptors += numbers
    request = json.loads(data[8:])
    standard = dict(zip(("stdin", "stdout", "stderr"), descriptors))
    child = subprocess.Popen(request["argv"], env=request["env"], cwd=request["cwd"], **standard)
    for descriptor in descriptors:
        os.close(descriptor)
    connection.sendall(b"%d\n" % child.pid)
    code = child.wait()
    try:
        connection.sendall(b"%d\n" % code)
    except OSError:
        pass
    connection.close()


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(256)


def accept():
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
