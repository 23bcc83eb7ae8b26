#![allow(clippy::all)]
use consort_bench::*;
fn main(){
    let home = Home::new(50, 10_000);
    if std::env::args().nth(2).as_deref()==Some("crowd") { let _=["consort"].map(release); let (_, took)=at_once(128, 20, |p,n| home.consort(&["send","Agent1",&format!("{p} {n}")])); println!("{:.0}/s", 2560.0/took.as_secs_f64()); return; }
    let full = home.payload("s11");
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let what = std::env::args().nth(2).unwrap_or_default();
    for i in 0..n {
        for k in 0..20 { home.send("s1","Agent11",&format!("{k}: message {i}: the login is ready for review")); }
        if what == "cg" {
            let c = home.hook("PostToolUse",&full);
            under("valgrind",&["--tool=callgrind","--compress-strings=no","--callgrind-out-file=/tmp/sh/cg.deliver"],&c,&full).status().unwrap();
        } else { once(&mut home.hook("PostToolUse",&full)); }
        if what != "nostop" { once(&mut home.hook("Stop",&full)); }
    }
}
