// RUN: yes
int *First = 0;
// CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use nullptr
// CHECK-FIXES: int *First = nullptr;
int *Second = 0;
// CHECK-MESSAGES: :[[@LINE-1]]:15: warning: use nullptr
