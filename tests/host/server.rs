//! A minimal HTTP server for one client on loopback: one thread and one response per connection.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request.
pub struct Call {
    /// GET, POST and the like.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A response.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: String,
}

/// A server; it stops with its owner.
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Listens on a free port.
    pub fn start(answer: impl Fn(&Call) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (answer, is_over) = (Arc::new(answer), Arc::new(AtomicBool::new(false)));
        let over = is_over.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().take_while(|_| !over.load(Ordering::Relaxed)).filter_map(Result::ok) {
                let answer = answer.clone();
                // An answer may wait for something, and other conversations must not wait with it. A client may
                // close the connection at any time.
                std::thread::spawn(move || drop(serve(&stream, &*answer)));
            }
        });
        Self { address, is_over }
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // One more connection wakes the listener, which then sees that it is over.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(mut stream: &TcpStream, answer: &dyn Fn(&Call) -> Answer) -> Result<()> {
    let call = read(stream)?;
    let Answer { status, kind, body } = answer(&call);
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let body = if call.method == "HEAD" { "" } else { &body };
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn read(stream: &TcpStream) -> Result<Call> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    Ok(Call { method: words.next().unwrap_or_default(), path: words.next().unwrap_or_default(), body })
}
